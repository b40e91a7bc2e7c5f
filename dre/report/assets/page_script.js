"use strict";
// Draws every chart of the page from the specification that stands beside it. Colours come from the
// page's style (currentColor), so light, dark and print need no second drawing.
(function () {
  const ink = "currentColor";
  const config = {
    background: null,
    view: { stroke: null },
    mark: { color: "#3d85c6" },
    // The page's own fonts by name: Vega measures text before it draws it.
    font: "system-ui, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', sans-serif",
    padding: 8,
    axis: {
      labelColor: ink, titleColor: ink, domainColor: ink, tickColor: ink, gridColor: ink,
      gridOpacity: 0.15, domainOpacity: 0.5, tickOpacity: 0.5, titleFontWeight: 500, labelFontSize: 11, titleFontSize: 12
    },
    legend: { labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12, labelLimit: 400 },
    header: { labelColor: ink, titleColor: ink, labelFontSize: 12 },
    title: { color: ink },
    text: { color: ink, fill: ink },
    rule: { color: ink },
    range: { category: ["#3d85c6", "#e07b00", "#2e9e62", "#c94f7c", "#8e6bd1", "#9a7b4f", "#00a0a8", "#8a8f98"] }
  };
  function fail(place, error) {
    place.textContent = "This chart could not be drawn: " + error.message;
    document.documentElement.dataset.chartError = error.message;
  }
  const places = Array.from(document.querySelectorAll(".chart"));
  Promise.all(places.map(function (place) {
    try {
      const given = JSON.parse(place.querySelector("script").textContent);
      const spec = vegaLite.compile(given, { config: config }).spec;
      const target = document.createElement("div");
      place.appendChild(target);
      const view = new vega.View(vega.parse(spec), { renderer: "svg", container: target, hover: true });
      view.description(place.getAttribute("aria-label"));
      return view.runAsync().catch(function (error) { fail(place, error); });
    } catch (error) {
      fail(place, error);
      return Promise.resolve();
    }
  })).then(function () { document.documentElement.dataset.charts = String(places.length); });
})();
