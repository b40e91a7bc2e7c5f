/// Grey images as PNG files, and many small ones in a grid.
#pragma once

#include <string>

#include "dre/data/table.h"

namespace dre {

/// The bytes of a PNG file. image: [height, width], uint8; 0 is black.
std::string png_bytes(const Tensor& image);

/// Written aside and renamed.
void save_png(const std::string& path, const Tensor& image);

/// Images in rows of `columns`, with black lines of two pixels between them; what the last row
/// lacks is black. pixels: [n, height * width], uint8 -> [H, W], uint8, host
Tensor image_grid(const Tensor& pixels, int64_t height, int64_t columns);

}  // namespace dre
