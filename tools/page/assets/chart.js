// Curves over time: one line where a step has one value, a band from its least to its largest where it has several.
const charts = new Map();
let marks = [];      // moments, in milliseconds
let pointed = null;  // the moment below the pointer, or null

const kChartHeight = 220, kSmallChartHeight = 110;
// Room for labels beside the curves; on the left at least so much.
const kLeft = 74, kRight = 25, kTop = 14, kBottom = 32;

// Of a step without a value a height is not a number.
const isValue = value => value !== null && value !== undefined && Number.isFinite(value);
// The second one of two recordings has moments of its own.
const timesOf = (plot, curve) => curve.times || plot.times;

// From zero where that does not press the curve flat.
function rangeOf(low, high) {
  if (low > high) return [0, 1];
  if (low === high) return low === 0 ? [0, 1] : [Math.min(0, low * 1.2), Math.max(0, high * 1.2)];
  const room = (high - low) * .08;
  return [low >= 0 && low < high * .6 ? 0 : low - room, high <= 0 && high > low * .6 ? 0 : high + room];
}

// To the next digit of the same decade.
function logRangeOf(low, high) {
  if (low > high) return [1, 10];
  const from = 10 ** Math.floor(Math.log10(low)), to = 10 ** Math.floor(Math.log10(high));
  const begin = Math.floor(low / from) * from, end = Math.ceil(high / to) * to;
  return [begin, end > begin ? end : 10 * begin];
}

// What its moments and values are on the screen.
function scaleOf(plot) {
  let low = Infinity, high = -Infinity, from = Infinity, to = -Infinity;
  for (const curve of plot.curves) {
    const times = timesOf(plot, curve);
    if (times.length) (from = Math.min(from, times[0]), to = Math.max(to, times[times.length - 1]));
    for (const values of [curve.low, curve.high]) {
      for (const value of values) {
        if (!isValue(value) || plot.log && value <= 0) continue;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
  }
  if (from > to) [from, to] = [0, 1];
  if (from === to) (from -= 500, to += 500);
  const [bottom, top] = plot.log ? logRangeOf(low, high) : rangeOf(low, high);
  const part = plot.log ? value => Math.log(value / bottom) / Math.log(top / bottom) : value => (value - bottom) / (top - bottom);
  return {from, to, bottom, top, part, log: plot.log};
}

// Values and their labels, at least 30 pixels apart.
function ticksOf({bottom, top, part, log}, tall, text) {
  const ticks = [];
  if (log) {
    for (let size = 10 ** Math.floor(Math.log10(bottom)); size <= top; size *= 10) {
      for (const digit of [1, 2, 5]) if (size * digit >= bottom && size * digit <= top * 1.0001) ticks.push(size * digit);
    }
    let last = -Infinity;
    return ticks.filter(value => (part(value) - last) * tall >= 20 && (last = part(value), true)).map(value => [value, shortQuantity(value, text)]);
  }
  return roundTicks(bottom, top, (top - bottom) * 30 / tall, text);
}

const kTimeSteps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 108e5, 216e5, 432e5, 864e5, 1728e5, 6048e5, 12096e5, 2592e6, 7776e6, 31536e6];

// Moments with labels, at least 70 pixels apart, at whole steps of the local time.
function momentsOf({from, to}, wide) {
  const least = (to - from) * 70 / wide, step = kTimeSteps.find(step => step >= least) || least, moments = [];
  const zone = time => new Date(time).getTimezoneOffset() * 6e4;
  for (let local = Math.ceil((from - zone(from)) / step) * step; ; local += step) {
    const time = local + zone(local + zone(from)), date = new Date(time), minutes = `${twoOf(date.getHours())}:${twoOf(date.getMinutes())}`;
    if (!(time <= to)) return moments;
    const seconds = `${minutes}:${twoOf(date.getSeconds())}`;
    moments.push([time, step < 1e3 ? `${seconds}.${String(date.getMilliseconds()).padStart(3, '0')}` : step < 6e4 ? seconds : step < 864e5 ? minutes : `${date.getMonth() + 1}/${date.getDate()}`]);
  }
}

// The newest value, or that of the moment below the pointer.
function indexOf(times, values) {
  if (pointed !== null) {
    const after = times.findIndex(time => time >= pointed);
    return after < 0 ? times.length - 1 : after && pointed - times[after - 1] < times[after] - pointed ? after - 1 : after;
  }
  return values.length - 1;
}

function drawLegend(chart) {
  const {plotOf: plot, legend} = chart;
  plot.curves.forEach((curve, index) => {
    const at = indexOf(timesOf(plot, curve), curve.high), low = curve.low[at], high = curve.high[at];
    const text = low === high || !isValue(low) ? quantity(high, plot.unit) : `${quantity(low, plot.unit)} to ${quantity(high, plot.unit)}`;
    // The title of the plot names its only curve.
    setText(legend.children[index], `${curve.name === plot.title ? '' : curve.name + ' '}${text}`);
  });
}

// A line and a dot for each curve at the moment below the pointer.
function drawPointer(chart) {
  drawLegend(chart);
  const {scale, plotOf: plot, over} = chart, x = pointed === null ? -1 : (pointed - scale.from) / (scale.to - scale.from);
  over.classList.toggle('pointed', x >= 0 && x <= 1);
  if (x < 0 || x > 1) return;
  over.style.setProperty('--x', `${100 * x}%`);
  const palette = curveColours();
  const dots = plot.curves.flatMap((curve, index) => {
    const times = timesOf(plot, curve), at = indexOf(times, curve.high);
    return [...new Set([curve.low[at], curve.high[at]])].filter(isValue).map(value => {
      const dot = element('i');
      dot.style.left = `${100 * (times[at] - scale.from) / (scale.to - scale.from)}%`;
      dot.style.top = `${100 * (1 - scale.part(value))}%`;
      dot.style.background = palette[index % palette.length];
      return dot;
    });
  });
  over.replaceChildren(chart.chosen, ...dots);
}

function pointAt(moment) {
  pointed = moment;
  for (const chart of charts.values()) if (chart.scale) drawPointer(chart);
}

// A click is a moment; a drag is a range.
function followPointer(chart) {
  const {over, chosen} = chart;
  let begin = null;
  const momentAt = x => chart.scale.from + x / over.clientWidth * (chart.scale.to - chart.scale.from);
  over.onpointerdown = event => {
    if (event.button || !chart.scale) return;
    begin = event.offsetX;
    over.setPointerCapture(event.pointerId);
  };
  over.onpointermove = event => {
    if (!chart.scale) return;
    const x = Math.min(over.clientWidth, Math.max(0, event.offsetX));
    pointAt(momentAt(x));
    chosen.style.left = `${Math.min(begin, x)}px`;
    chosen.style.width = `${begin === null ? 0 : Math.abs(x - begin)}px`;
  };
  over.onpointerleave = () => pointAt(null);
  over.onpointercancel = () => (begin = null, chosen.style.width = 0);
  over.onpointerup = event => {
    if (begin === null) return;
    const x = Math.min(over.clientWidth, Math.max(0, event.offsetX)), from = Math.min(begin, x), to = Math.max(begin, x), {times} = chart.plotOf;
    begin = null;
    chosen.style.width = 0;
    if (to - from >= 4) change({at: (momentAt(to) / 1e3).toFixed(6), span: Math.max((momentAt(to) - momentAt(from)) / 1e3, .001).toFixed(6)});
    else if (times.length) change({at: momentText(times[indexOf(times, times)])});
  };
}

const widthOf = chart => Math.max(160, chart.holder.clientWidth - 12);

// A chart that is not on the screen is drawn when it comes there.
const sight = new IntersectionObserver(entries => {
  for (const {target, isIntersecting} of entries) {
    const {chart} = target, comes = isIntersecting && chart.isAway;
    chart.isAway = !isIntersecting;
    if (comes) chart.draw();
  }
}, {rootMargin: '99px'});
addEventListener('beforeprint', () => charts.forEach(chart => chart.draw()));

function chartOf(index) {
  let chart = charts.get(index);
  if (chart) return chart;
  const id = `plot-${index}`;
  chart = {title: element(index ? 'a' : 'span'), height: index ? kSmallChartHeight : kChartHeight, canvas: element('canvas'), chosen: element('b'), legend: element('ul', {class: 'legend', 'aria-hidden': 'true'})};
  chart.over = element('div', {class: 'area'}, chart.chosen);
  chart.holder = element('div', {class: 'plot', role: 'img', tabindex: '0'});
  chart.card = element('section', {class: 'card', 'aria-labelledby': id}, element('h2', {id}, chart.title), chart.holder, chart.legend);
  followPointer(chart);
  chart.card.chart = chart;
  sight.observe(chart.card);
  charts.set(index, chart);
  return chart;
}

// No step of the curve has several values, so there is no band to draw.
const isLine = curve => curve.low.every((low, at) => low === curve.high[at]);

function layCurve(pixels, plot, curve, {part}, xs, ink) {
  const heights = new Float64Array(xs.length);
  const traced = values => {
    for (let at = 0; at < xs.length; ++at) {
      const value = values[at];
      heights[at] = isValue(value) && !(plot.log && value <= 0) ? pixels.high * (1 - part(value)) : NaN;
    }
    trace(pixels, xs, heights);
  };
  if (!isLine(curve)) {
    traced(curve.low);
    const ends = pixels.ends.slice();
    layLine(pixels, ink, curve.isOther);
    traced(curve.high);
    pixels.tops.forEach((top, x) => layColumn(pixels, x, top, ends[x], ink, .22));
  } else {
    traced(curve.high);
  }
  layLine(pixels, ink, curve.isOther);
}

// Lines of the grid and at marked moments, and curves.
function layPlot(pixels, plot, scale, moments, ticks) {
  const {wide, high, words} = pixels, thick = Math.max(1, Math.round(devicePixelRatio)), grid = inkOf(colour('--line'));
  const xOf = time => Math.round((time - scale.from) / (scale.to - scale.from) * (wide - thick));
  const layRule = (x, ink, isDashed) => {
    for (let row = 0; row < high; ++row) if (!isDashed || row / thick % 7 < 4) words.fill(ink | 0xff000000, row * wide + x, row * wide + x + thick);
  };
  for (const [value] of ticks) {
    const row = Math.round((1 - scale.part(value)) * (high - thick));
    words.fill(grid | 0xff000000, row * wide, (row + thick) * wide);
  }
  for (const [time] of moments) layRule(xOf(time), grid);
  const palette = curveColours(), placed = times => Array.from(times, time => .5 + (time - scale.from) * (wide - 1) / (scale.to - scale.from));
  const xs = placed(plot.times);
  plot.curves.forEach((curve, index) => {
    layCurve(pixels, plot, curve, scale, curve.times ? placed(curve.times) : xs, inkOf(palette[index % palette.length]));
  });
  const rules = marks.map(mark => [mark, colour('--warning')]);
  if (place.has('at')) rules.push([Number(place.get('at')) * 1e3, colour('--soft')]);
  for (const [time, look] of rules) if (time >= scale.from && time <= scale.to) layRule(xOf(time), inkOf(look), true);
}

// As long as the longest label. Most pictures have the labels of the one before.
function leftOf(card, pen, labels, least) {
  const words = labels.join();
  if (card.words !== words) {
    card.words = words;
    card.room = Math.max(least, ...labels.map(label => Math.ceil(pen.measureText(label).width) + 13));
  }
  return card.room;
}

function drawPlot(chart, plot, width) {
  const {canvas, over, height} = chart, tall = height - kTop - kBottom, scale = scaleOf(plot), ticks = ticksOf(scale, tall, plot.unit);
  const {pen} = drawing(canvas, width, height), left = leftOf(chart, pen, ticks.map(([, label]) => label), kLeft), wide = width - left - kRight;
  const ratio = devicePixelRatio, moments = plot.times.length ? momentsOf(scale, wide) : [];
  if (chart.width !== width || chart.left !== left) {
    Object.assign(chart, {width, left});
    canvas.style.width = `${width}px`;
    over.style.left = `${left + 6}px`;
    over.style.width = `${wide}px`;
  }
  chart.scale = scale;
  chart.pixels = pixelsOf(Math.round(wide * ratio), Math.round(tall * ratio), chart.pixels);
  layPlot(chart.pixels, plot, scale, moments, ticks);
  pen.putImageData(chart.pixels.image, Math.round(left * ratio), Math.round(kTop * ratio));
  pen.fillStyle = colour('--soft');
  pen.textAlign = 'right';
  pen.textBaseline = 'middle';
  for (const [value, label] of ticks) pen.fillText(label, left - 9, kTop + tall * (1 - scale.part(value)));
  pen.textAlign = 'center';
  pen.textBaseline = 'top';
  for (const [time, text] of moments) {
    const x = left + wide * (time - scale.from) / (scale.to - scale.from);
    pen.fillText(text, x < width - 40 ? x : Math.min(x, width - pen.measureText(text).width / 2), height - kBottom + 9);
  }
}

function drawChart(index, plot, width = widthOf(chartOf(index))) {
  const chart = chartOf(index);
  const shape = JSON.stringify([plot.title, plot.curves.map(curve => curve.name), isDark()]);
  chart.plotOf = plot;
  setText(chart.title, plot.note ? `${plot.title}: ${plot.note}` : plot.title);
  if (index) setAttribute(chart.title, 'href', linkOf(plot));
  if (chart.shape !== shape) {
    chart.shape = shape;
    const palette = curveColours();
    chart.legend.replaceChildren(...plot.curves.map((curve, at) => {
      const item = element('li');
      item.style.setProperty('--curve', palette[at % palette.length]);
      return item;
    }));
  }
  drawPlot(chart, plot, width);
  if (!chart.over.parentNode) chart.holder.append(chart.canvas, chart.over);
  drawPointer(chart);
  setAttribute(chart.holder, 'aria-label', sayPlot(plot));
}

// What the curves show, for those who do not see them.
function sayPlot(plot) {
  const parts = plot.curves.map(curve => {
    let low = Infinity, high = -Infinity;
    for (const value of curve.low) if (value < low && value !== null) low = value;
    for (const value of curve.high) if (value > high && value !== null) high = value;
    return low > high ? `${curve.name}: no values` : `${curve.name}: ${quantity(curve.high.at(-1), plot.unit)}, between ${quantity(low, plot.unit)} and ${quantity(high, plot.unit)}`;
  });
  return `${plot.title} over time. ${parts.join('; ')}`;
}

// Where the row of its counter leads.
function linkOf(plot) {
  const line = picture.sections[0].lines.find(line => textOf(line.cells[0]) === plot.title);
  return line && lead + line.opens;
}

// The chosen counter has the first place, and the others one below the tables.
function placeCharts(plots, first, others) {
  plots.forEach((plot, index) => {
    const {card} = chartOf(index), parent = index ? others : first;
    if (card.parentNode !== parent) parent.insertBefore(card, index ? null : parent.firstChild);
  });
  for (const [index, chart] of charts) {
    if (index < plots.length) continue;
    sight.unobserve(chart.card);
    chart.card.remove();
    charts.delete(index);
  }
}

let lastWidth = 0;
new ResizeObserver(() => {
  const width = document.documentElement.clientWidth;
  if (width === lastWidth) return;
  lastWidth = width;
  for (const chart of charts.values()) if (chart.scale && !chart.isAway && widthOf(chart) !== chart.width) chart.draw();
  for (const table of tables.values()) table.high = 0;  // rows of another height, after a zoom
  redrawCanvases();
}).observe(document.documentElement);
