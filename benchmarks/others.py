#!/usr/bin/env python3
"""What a user would pick instead, in one run on the same rows:

    benchmarks/others.py build/release/bin/dre [--rows 5000] [--seed 0]

KL divergence by classifiers of scikit-learn (logistic regression with squares, gradient boosting),
their probabilities turned into ratios and averaged over held-out rows (five folds), and mutual information by
the nearest-neighbour estimator of Kraskov, Stoegbauer and Grassberger (k = 3), against dre compare
and dre mi. Needs numpy, scipy and scikit-learn.
"""
import argparse
import json
import subprocess
import tempfile

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import digamma, gammaln
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler


def gaussian(rng, rows, mean, scale, d):
    return mean + scale * rng.standard_normal((rows, d))


def mixture(rng, rows, centres, d):
    return np.asarray(centres)[rng.integers(len(centres), size=rows), None] + rng.standard_normal((rows, d))


def mixture_log_density(x, centres):
    each = np.stack([-0.5 * ((x - c) ** 2).sum(1) for c in centres])
    top = each.max(0)
    return top + np.log(np.exp(each - top).sum(0)) - np.log(len(centres))


def divergence_tasks(rng, rows):
    d = 5
    yield "shifted Gaussians, d = 5", gaussian(rng, rows, 0.4, 1, d), gaussian(rng, rows, 0, 1, d), d * 0.4**2 / 2
    scale = 0.7
    kl = d * (0.5 * (scale**2 - 1) - np.log(scale))
    yield "scaled Gaussians, d = 5", gaussian(rng, rows, 0, scale, d), gaussian(rng, rows, 0, 1, d), kl
    top, bottom = [-1.5, 1.5], [-0.5, 0.5]
    fresh = mixture(rng, 400_000, top, 2)
    kl = np.mean(mixture_log_density(fresh, top) - mixture_log_density(fresh, bottom))
    yield "mixtures, d = 2", mixture(rng, rows, top, 2), mixture(rng, rows, bottom, 2), kl
    yield "equal, d = 10", gaussian(rng, rows, 0, 1, 10), gaussian(rng, rows, 0, 1, 10), 0.0


def classifier_kl(model, numerator, denominator):
    x = np.concatenate([numerator, denominator])
    label = np.repeat([1, 0], [len(numerator), len(denominator)])
    p = cross_val_predict(model, x, label, cv=5, method="predict_proba")[:, 1].clip(1e-6, 1 - 1e-6)
    log_ratio = np.log(p / (1 - p)) + np.log(len(denominator) / len(numerator))
    return log_ratio[: len(numerator)].mean()


def ksg(x, y, k=3):
    """Estimator 1 of Kraskov et al. 2004, maximum norm."""
    joint = np.concatenate([x, y], 1)
    radius = np.nextafter(cKDTree(joint).query(joint, k + 1, p=np.inf)[0][:, k], 0)
    count = lambda z: cKDTree(z).query_ball_point(z, radius, p=np.inf, return_length=True) - 1
    return digamma(k) + digamma(len(x)) - np.mean(digamma(count(x) + 1) + digamma(count(y) + 1))


def student_information(degrees, dx, dy):
    """Of uncorrelated columns of one Student t, by its entropies."""
    def entropy(d):
        a, b = degrees / 2, d / 2
        return (gammaln(a) + b * np.log(degrees * np.pi) - gammaln(a + b)
                + (a + b) * (digamma(a + b) - digamma(a)))
    return entropy(dx) + entropy(dy) - entropy(dx + dy)


def information_tasks(rng, rows):
    def correlated(d, pairs, rho):
        x, noise = rng.standard_normal((rows, d)), rng.standard_normal((rows, d))
        y = noise.copy()
        y[:, :pairs] = rho * x[:, :pairs] + np.sqrt(1 - rho**2) * noise[:, :pairs]
        return x, y, -0.5 * pairs * np.log(1 - rho**2)

    yield "Gaussian 1 + 1", *correlated(1, 1, 0.75)
    yield "Gaussian 5 + 5", *correlated(5, 2, 0.8)
    yield "Gaussian 25 + 25", *correlated(25, 2, 0.8)
    # Student t with 3 degrees of freedom, 2 + 2 columns that share nothing but their scale.
    student = rng.standard_normal((rows, 4)) * np.sqrt(3 / rng.chisquare(3, (rows, 1)))
    yield "Student t, 2 + 2", student[:, :2], student[:, 2:], student_information(3, 2, 2)
    x = rng.random((rows, 1))
    yield "uniform noise", x, x + rng.uniform(-0.1, 0.1, (rows, 1)), 0.1 + np.log(5)


def run_dre(tool, arguments):
    out = subprocess.run([tool, *arguments, "--quiet", "--format", "json"], check=True, capture_output=True)
    return json.loads(out.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    logistic = make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression(max_iter=1000))
    models = {"logistic regression": logistic, "gradient boosting": HistGradientBoostingClassifier()}
    with tempfile.TemporaryDirectory() as folder:
        print(f"KL(numerator, denominator) in nats, {arguments.rows} rows a side; 95 % intervals\n")
        print("| task | truth | dre compare | " + " | ".join(models) + " |\n|---|" + "---:|" * (2 + len(models)))
        for name, numerator, denominator, truth in divergence_tasks(rng, arguments.rows):
            np.save(f"{folder}/a.npy", numerator)
            np.save(f"{folder}/b.npy", denominator)
            kl = run_dre(arguments.tool, ["compare", "--numerator", f"{folder}/a.npy",
                                          "--denominator", f"{folder}/b.npy"])["kl"]
            cells = [f"{kl['value']:.3f} [{kl['low']:.3f}, {kl['high']:.3f}]"]
            for model in models.values():
                cells.append(f"{classifier_kl(model, numerator, denominator):.3f}")
            print(f"| {name} | {truth:.3f} | " + " | ".join(cells) + " |", flush=True)
        print(f"\nMutual information in nats, {arguments.rows} rows\n")
        print("| task | truth | dre mi | nearest neighbours |\n|---|---:|---:|---:|")
        for name, x, y, truth in information_tasks(rng, arguments.rows):
            np.save(f"{folder}/xy.npy", np.concatenate([x, y], 1))
            found = run_dre(arguments.tool, ["mi", f"{folder}/xy.npy", str(x.shape[1]), str(y.shape[1])])
            print(f"| {name} | {truth:.3f} | {found['value']:.3f} [{found['low']:.3f}, {found['high']:.3f}] "
                  f"| {ksg(x, y):.3f} |", flush=True)


if __name__ == "__main__":
    main()
