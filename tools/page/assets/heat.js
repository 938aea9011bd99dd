// A distribution over time as a heat map, and the newest one as bars.
const heatCard = (() => {
  const made = {title: element('span'), unit: element('small', {}, 'how many values, over time'), canvas: element('canvas', {class: 'heat', role: 'img', tabindex: '0'}), note: element('div', {class: 'note', 'aria-live': 'off'})};
  made.card = element('section', {class: 'card', 'aria-labelledby': 'heat-title'}, element('h2', {id: 'heat-title'}, made.title, made.unit), made.canvas, made.note);
  made.canvas.onpointermove = event => {
    const hit = made.at?.(event.offsetX, event.offsetY);
    setText(made.note, hit ? hit.text : made.usual);
  };
  made.canvas.onpointerleave = () => setText(made.note, made.usual || '');
  made.canvas.onclick = event => {
    const hit = made.at?.(event.offsetX, event.offsetY);
    if (hit) change({at: momentText(hit.time)});
  };
  return made;
})();

// From few to many. Dark to bright on a dark page, pale to deep on a light one.
const kStops = {
  dark: [[23, 32, 48], [32, 70, 130], [30, 136, 160], [94, 201, 98], [253, 231, 37]],
  light: [[233, 240, 248], [158, 202, 225], [66, 146, 198], [33, 80, 160], [60, 15, 90]],
};

// 256 inks.
let heatInks = null, areDark = null;
function inksOfHeat() {
  if (heatInks && areDark === isDark()) return heatInks;
  areDark = isDark();
  const stops = kStops[areDark ? 'dark' : 'light'];
  return heatInks = Uint32Array.from({length: 256}, (_, step) => {
    const place = Math.min(step / 255, .9999) * (stops.length - 1), low = Math.floor(place);
    const [red, green, blue] = stops[low].map((from, at) => from + (stops[low + 1][at] - from) * (place - low));
    return 0xff000000 | blue << 16 | green << 8 | red;
  });
}

const kHeatLeft = 74, kHeatBottom = 22;

// The rows that have any count, with one to spare on both sides.
function usedRows(heat) {
  const rows = heat.edges.length - 1, isUsed = row => heat.counts.some(column => column[row] > 0);
  let low = 0, high = rows - 1;
  while (low < rows && !isUsed(low)) ++low;
  if (low === rows) return [0, rows];
  while (!isUsed(high)) --high;
  return [Math.max(0, low - 1), Math.min(rows, high + 2)];
}

// A column of pixels has the largest counts of the moments that lie in it.
function layHeat({words, wide, high: tall}, heat, low, high) {
  const count = heat.times.length, inks = inksOfHeat(), top = Math.log1p(heat.largest || 1);
  for (let x = 0; x < wide; ++x) {
    const first = Math.floor(x * count / wide), end = Math.max(first + 1, Math.floor((x + 1) * count / wide));
    for (let row = low; row < high; ++row) {
      let most = 0;
      for (let at = first; at < end; ++at) most = Math.max(most, heat.counts[at][row] || 0);
      if (!most) continue;
      const ink = inks[Math.min(255, Math.round(255 * (.12 + .88 * Math.log1p(most) / top)))];
      const bottom = Math.round((high - row) * tall / (high - low));
      for (let y = Math.round((high - 1 - row) * tall / (high - low)); y < bottom; ++y) words[y * wide + x] = ink;
    }
  }
}

function drawHeat(heat, ...size) {
  heatCard.heat = heat;
  setText(heatCard.title, heat.title);
  const {pen, width, height} = drawing(heatCard.canvas, ...size);
  const [low, high] = usedRows(heat), count = heat.times.length;
  const tall = height - kHeatBottom - 6;
  if (!count || high <= low) return;
  const every = Math.max(1, Math.ceil((high - low) / (tall / 26))), edges = [];
  for (let edge = low; edge <= high; edge += every) edges.push([edge, shortQuantity(heat.edges[edge], heat.unit)]);
  const left = leftOf(heatCard, pen, edges.map(([, label]) => label), kHeatLeft), wide = width - left - 12;
  if (wide < 20) return;
  const begin = heat.times[0];
  const step = count > 1 ? (heat.times[count - 1] - begin) / (count - 1) : 1;
  const x = at => left + at * wide / count;
  const y = row => 6 + tall - (row - low) * tall / (high - low);
  const ratio = devicePixelRatio;
  heatCard.pixels = pixelsOf(Math.round(wide * ratio), Math.round(tall * ratio), heatCard.pixels);
  layHeat(heatCard.pixels, heat, low, high);
  pen.putImageData(heatCard.pixels.image, Math.round(left * ratio), Math.round(6 * ratio));
  pen.fillStyle = colour('--soft');
  pen.textBaseline = 'middle';
  pen.textAlign = 'right';
  for (const [edge, label] of edges) pen.fillText(label, left - 6, Math.min(height - kHeatBottom, Math.max(8, y(edge))));
  pen.textAlign = 'center';
  pen.textBaseline = 'alphabetic';
  const labels = Math.max(2, Math.floor(wide / 110));
  for (let label = 0; label < labels; ++label) {
    const at = Math.round((label + .5) * count / labels);
    if (at < count) pen.fillText(clock(heat.times[at]).slice(-8), x(at + .5), height - 6);
  }
  heatCard.at = (px, py) => {
    const at = Math.floor((px - left) / wide * count), row = Math.floor(low + (6 + tall - py) / tall * (high - low));
    if (at < 0 || at >= count || row < low || row >= high) return null;
    const value = heat.counts[at][row] || 0;
    return {time: heat.times[at], text: `${clock(heat.times[at], true)}: ${quantity(value, '')} from ${quantity(heat.edges[row], heat.unit)} to ${quantity(heat.edges[row + 1], heat.unit)}`};
  };
  heatCard.usual = `${count} moments, ${quantity(step / 1e3, 's')} apart; the largest count is ${quantity(heat.largest, '')}`;
  if (!heatCard.canvas.matches(':hover')) setText(heatCard.note, heatCard.usual);
  setAttribute(heatCard.canvas, 'aria-label', `${heat.title}, a heat map: ${heatCard.usual}, between ${quantity(heat.edges[low], heat.unit)} and ${quantity(heat.edges[high], heat.unit)}`);
}

const barsCard = (() => {
  const made = {title: element('span'), unit: element('small', {}, 'newest values'), list: element('dl', {class: 'percentiles'}), canvas: element('canvas', {class: 'bars', role: 'img'}), note: element('div', {class: 'note'})};
  made.card = element('section', {class: 'card', 'aria-labelledby': 'bars-title'}, element('h2', {id: 'bars-title'}, made.title, made.unit), made.list, made.canvas, made.note);
  return made;
})();

function drawHistogram(histogram, ...size) {
  barsCard.histogram = histogram;
  setText(barsCard.title, histogram.title);
  const names = histogram.percentiles.map(percentile => percentile.name).join();
  if (barsCard.names !== names) {
    barsCard.names = names;
    barsCard.list.replaceChildren(...histogram.percentiles.map(percentile => element('div', {}, element('dt', {}, percentile.name), element('dd'))));
  }
  histogram.percentiles.forEach((percentile, at) => setText(barsCard.list.children[at].lastChild, percentile.text));
  const {pen, width, height} = drawing(barsCard.canvas, ...size);
  const counts = histogram.counts;
  let low = counts.findIndex(count => count > 0), high = counts.length - 1;
  while (high > low && !(counts[high] > 0)) --high;
  if (low < 0) return setText(barsCard.note, histogram.outside || 'no values');
  let largest = 0, sum = 0;
  for (const count of counts) (largest = Math.max(largest, count || 0), sum += count || 0);
  const wide = (width - 24) / (high - low + 1);
  pen.fillStyle = colour('--accent');
  for (let at = low; at <= high; ++at) {
    const tall = (counts[at] || 0) / largest * (height - 8);
    pen.fillRect(12 + (at - low) * wide, height - tall, Math.max(1, wide - (wide > 4 ? 1 : 0)), tall);
  }
  const note = `${quantity(sum, '')} values from ${quantity(histogram.edges[low], histogram.unit)} to ${quantity(histogram.edges[high + 1], histogram.unit)}${histogram.outside && ', ' + histogram.outside}`;
  setText(barsCard.note, note);
  setAttribute(barsCard.canvas, 'aria-label', `${histogram.title}: ${note}`);
}

function redrawCanvases() {
  if (heatCard.card.isConnected && heatCard.heat) drawHeat(heatCard.heat);
  if (barsCard.card.isConnected && barsCard.histogram) drawHistogram(barsCard.histogram);
}
