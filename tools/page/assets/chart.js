// Curves over time, drawn by uPlot: one line where a step has one value, a band from its least to its largest where
// it has several.
const charts = new Map();
let marks = [];  // moments, in milliseconds

const kChartHeight = 220, kSmallChartHeight = 110;

// No step of the curve has several values, so there is no band to draw.
const isLine = curve => curve.low.every((low, at) => low === curve.high[at]);

// The columns of a plot as uPlot takes them: seconds, then of each curve high, and low before it if there is a band.
function columnsOf(plot, areLines) {
  const columns = [Float64Array.from(plot.times, time => time / 1e3)];
  plot.curves.forEach((curve, index) => columns.push(...areLines[index] ? [curve.high] : [curve.low, curve.high]));
  return columns;
}

function formatAxis(plot) {
  return (chart, values) => values.map(value => value === null ? '' : quantity(value, plot.unit));
}

// The newest of the moments that the pointer has passed.
function legendOf(chart, at) {
  chart.plotOf.curves.forEach((curve, index) => {
    const item = chart.legend.children[index];
    if (!item) return;
    let last = at;
    if (last === null || last === undefined) {
      last = curve.high.length - 1;
      while (last > 0 && !Number.isFinite(curve.high[last])) --last;
    }
    const low = curve.low[last], high = curve.high[last], unit = chart.plotOf.unit;
    const text = low === high || low === null ? quantity(high, unit) : `${quantity(low, unit)} to ${quantity(high, unit)}`;
    // The title of the plot names its only curve.
    setText(item, `${curve.name === chart.plotOf.title ? '' : curve.name + ' '}${text}`);
  });
}

function drawMarks(uplot) {
  const pen = uplot.ctx, {top, height} = uplot.bbox;
  const lines = marks.map(mark => [mark, colour('--warning')]);
  if (place.has('at')) lines.push([Number(place.get('at')) * 1e3, colour('--soft')]);
  for (const [time, look] of lines) {
    const x = uplot.valToPos(time / 1e3, 'x', true);
    if (x < uplot.bbox.left || x > uplot.bbox.left + uplot.bbox.width) continue;
    pen.strokeStyle = look;
    pen.lineWidth = devicePixelRatio;
    pen.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
    pen.beginPath();
    pen.moveTo(x, top);
    pen.lineTo(x, top + height);
    pen.stroke();
    pen.setLineDash([]);
  }
}

function uplotOf(chart, plot, data, width, areLines) {
  const palette = curveColours();
  const series = [{}], bands = [];
  plot.curves.forEach((curve, index) => {
    const stroke = palette[index % palette.length];
    // A line wider than one, which is usual, takes Chromium three times as long.
    const look = {stroke, points: {show: false}, dash: curve.isOther ? [5, 4] : undefined};
    if (!areLines[index]) {
      bands.push({series: [series.length + 1, series.length], fill: stroke + '38'});
      series.push(look);
    }
    series.push(look);
  });
  const axis = {stroke: colour('--soft'), grid: {stroke: colour('--line'), width: 1}, ticks: {stroke: colour('--line'), width: 1, size: 4}, font: '11px system-ui,sans-serif'};
  return new uPlot({
    width, height: chart.height, series, bands,
    legend: {show: false},
    cursor: {drag: {x: true, y: false, setScale: false}, sync: {key: 'time'}, y: false, points: {size: 6}},
    scales: {x: {time: true}, y: {distr: plot.log ? 3 : 1, range: plot.log ? undefined : (self, low, high) => rangeOf(low, high)}},
    axes: [{...axis, space: 70, size: 32, values: (self, times, at, space, step) => times.map(time => {
      const date = new Date(time * 1e3), minutes = `${twoOf(date.getHours())}:${twoOf(date.getMinutes())}`;
      if (step < 1) return `${minutes}:${twoOf(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`;
      return step < 60 ? `${minutes}:${twoOf(date.getSeconds())}` : step < 86400 ? minutes : `${date.getMonth() + 1}/${date.getDate()}`;
    })}, {...axis, size: 74, values: formatAxis(plot)}],
    hooks: {
      setCursor: [self => legendOf(chart, self.cursor.idx)],
      setSelect: [self => zoomTo(self)],
      draw: [drawMarks],
    },
  }, data, chart.holder);
}

// From zero where that does not press the curve flat.
function rangeOf(low, high) {
  if (low === null || high === null) return [0, 1];
  if (low === high) return low === 0 ? [0, 1] : [Math.min(0, low * 1.2), Math.max(0, high * 1.2)];
  const room = (high - low) * .08;
  return [low >= 0 && low < high * .6 ? 0 : low - room, high <= 0 && high > low * .6 ? 0 : high + room];
}

function zoomTo(uplot) {
  const {left, width} = uplot.select;
  if (width < 4) return;
  const from = uplot.posToVal(left, 'x'), to = uplot.posToVal(left + width, 'x');
  uplot.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
  change({at: to.toFixed(6), span: Math.max(to - from, .001).toFixed(6)});
}

const widthOf = chart => Math.max(160, chart.holder.clientWidth - 12);

function fit(chart, width = widthOf(chart)) {
  if (chart.uplot && chart.uplot.width !== width) chart.uplot.setSize({width, height: chart.height});
}

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
  chart = {title: element(index ? 'a' : 'span'), height: index ? kSmallChartHeight : kChartHeight, holder: element('div', {class: 'plot', role: 'img', tabindex: '0'}), legend: element('ul', {class: 'legend', 'aria-hidden': 'true'})};
  chart.card = element('section', {class: 'card', 'aria-labelledby': id}, element('h2', {id}, chart.title), chart.holder, chart.legend);
  // A click is a moment; a drag, which the library reports by itself, is a range.
  let pressed = 0;
  chart.holder.onpointerdown = event => (pressed = event.clientX);
  chart.holder.onclick = event => {
    const at = chart.uplot?.cursor.idx;
    if (Math.abs(event.clientX - pressed) < 4 && at !== null && at !== undefined) change({at: momentText(chart.plotOf.times[at])});
  };
  chart.card.chart = chart;
  sight.observe(chart.card);
  charts.set(index, chart);
  return chart;
}

function drawChart(index, plot, width = widthOf(chartOf(index))) {
  const chart = chartOf(index);
  const areLines = plot.curves.map(isLine);
  const shape = JSON.stringify([plot.title, plot.unit, plot.log, plot.curves.map(curve => [curve.name, curve.isOther]), areLines, isDark()]);
  const data = columnsOf(plot, areLines);
  chart.plotOf = plot;
  setText(chart.title, plot.title);
  if (index) setAttribute(chart.title, 'href', linkOf(plot));
  if (chart.shape !== shape) {
    chart.uplot?.destroy();
    chart.holder.replaceChildren();
    const palette = curveColours();
    chart.legend.replaceChildren(...plot.curves.map((curve, at) => {
      const item = element('li');
      item.style.setProperty('--curve', palette[at % palette.length]);
      return item;
    }));
    chart.uplot = uplotOf(chart, plot, data, width, areLines);
    chart.shape = shape;
  } else {
    chart.uplot.setData(data);
  }
  fit(chart, width);
  legendOf(chart, chart.uplot.cursor.idx);
  setAttribute(chart.holder, 'aria-label', sayPlot(plot));
}

// What the curves show, for those who do not see them.
function sayPlot(plot) {
  const parts = plot.curves.map(curve => {
    let low = Infinity, high = -Infinity, last = null;
    for (const value of curve.low) if (value < low && value !== null) low = value;
    for (const value of curve.high) if (value > -Infinity && value !== null) (high = Math.max(high, value), last = value);
    return last === null ? `${curve.name}: no values` : `${curve.name}: ${quantity(last, plot.unit)}, between ${quantity(low, plot.unit)} and ${quantity(high, plot.unit)}`;
  });
  return `${plot.title} over time. ${parts.join('; ')}`;
}

// Where the row of its counter leads.
function linkOf(plot) {
  const line = picture.sections[0].lines.find(line => textOf(line.cells[0]) === plot.title);
  return line && '?' + line.opens;
}

// The chosen counter has the first place, and the others one below the tables.
function placeCharts(plots, first, others) {
  plots.forEach((plot, index) => {
    const {card} = chartOf(index), parent = index ? others : first;
    if (card.parentNode !== parent) parent.append(card);
  });
  for (const [index, chart] of charts) {
    if (index < plots.length) continue;
    chart.uplot?.destroy();
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
  for (const chart of charts.values()) fit(chart);
  redrawCanvases();
}).observe(document.documentElement);
