// Curves as pixels that are set here. The pen of a canvas takes Chromium several times as long where it draws without
// a graphics processor.
function pixelsOf(wide, high, before) {
  if (before?.wide === wide && before.high === high) return before.words.fill(0), before;
  const image = new ImageData(wide, high);
  return {image, wide, high, words: new Uint32Array(image.data.buffer), tops: new Float64Array(wide), ends: new Float64Array(wide)};
}

// A colour of the style, '#rrggbb', in the order of the bytes of a pixel.
function inkOf(text) {
  const bits = parseInt(text.slice(1), 16);
  return (bits & 255) << 16 | bits & 0xff00 | bits >> 16;
}

// Ink on a part of a pixel.
function lay(words, at, ink, share) {
  const under = words[at], rest = (under >>> 24) / 255 * (1 - share);
  if (share >= 1) words[at] = ink | 0xff000000;
  else if (!rest) words[at] = share * 255 << 24 | ink;
  else {
    const whole = share + rest, mix = shift => ((ink >> shift & 255) * share + (under >> shift & 255) * rest) / whole << shift;
    words[at] = mix(0) | mix(8) & 0xff00 | mix(16) & 0xff0000 | whole * 255 << 24;
  }
}

// Ink in a column from one height to another, both counted from above.
function layColumn({words, wide, high}, x, top, end, ink, share = 1) {
  top = Math.max(top, 0);
  end = Math.min(end, high);
  const first = Math.floor(top), last = Math.ceil(end) - 1;
  if (!(first <= last)) return;
  lay(words, first * wide + x, ink, share * (Math.min(end, first + 1) - top));
  // Rows that are covered as a whole, which are most, need no more than this.
  for (let row = first + 1, at = row * wide + x; row < last; ++row, at += wide) {
    if (share === 1) words[at] = ink | 0xff000000;
    else lay(words, at, ink, share);
  }
  if (first < last) lay(words, last * wide + x, ink, share * (end - last));
}

// Finds the heights that a curve takes in each column. A height that is not a number makes a gap.
function trace({wide, tops, ends}, xs, ys) {
  tops.fill(Infinity);
  ends.fill(-Infinity);
  let lastX = 0, lastY = NaN;
  for (let at = 0; at < ys.length; ++at) {
    const x = xs[at], y = ys[at];
    if (!Number.isNaN(y)) {
      if (Number.isNaN(lastY)) [lastX, lastY] = [x, y];
      const slope = x > lastX ? (y - lastY) / (x - lastX) : 0;
      for (let column = Math.max(0, Math.floor(lastX)), last = Math.min(x, wide - 1); column <= last; ++column) {
        const from = lastY + slope * (Math.max(lastX, column) - lastX), to = lastY + slope * (Math.min(x, column + 1) - lastX);
        tops[column] = Math.min(tops[column], from, to);
        ends[column] = Math.max(ends[column], from, to);
      }
    }
    lastX = x;
    lastY = y;
  }
}

// A line as thick as a pixel of the style along what was traced.
function layLine(pixels, ink, isDashed) {
  const {tops, ends, wide} = pixels, thick = Math.max(1, Math.round(devicePixelRatio));
  for (let pass = 1; pass < thick; ++pass) {
    for (let x = wide - 1; x > 0; --x) {
      tops[x] = Math.min(tops[x], tops[x - 1]);
      ends[x] = Math.max(ends[x], ends[x - 1]);
    }
  }
  let length = 0;  // of the line so far
  for (let x = 0; x < wide; ++x) {
    const tall = ends[x] - tops[x];
    if (!(tall >= 0)) continue;
    // A steep part is as wide as its column already.
    const half = Math.max(.1, (thick - tall / 2) / 2);
    const top = tops[x] - half, end = ends[x] + half;
    if (!isDashed) layColumn(pixels, x, top, end, ink);
    // Dashes of five pixels, with four between.
    else for (let at = top; at < end; at += thick) if ((length + at - top) / thick % 9 < 5) layColumn(pixels, x, at, Math.min(end, at + thick), ink);
    length += Math.max(1, tall);
  }
}
