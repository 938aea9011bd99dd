// Where pictures come from: a stream of the program that serves this page, or what a file holds.
let picture = null;      // what is shown
let lastFull = null;     // the picture that tails follow
let isOfPlace = false;   // the picture is one of the place that is shown
let running = null;      // the request that is under way
const kPlots = 12;       // counters of an instance that are shown over time
let onPicture = () => {};
let onTrouble = () => {};

// The token comes behind the '#' of the address, which browsers send to no server, and is kept for this origin.
const kTokenName = 'meterbank-token';
const token = (() => {
  const given = /^#([0-9a-f]{32})$/.exec(location.hash);
  try {
    if (given) {
      localStorage.setItem(kTokenName, given[1]);
      history.replaceState(null, '', location.pathname + location.search);
    }
    return given ? given[1] : localStorage.getItem(kTokenName) || '';
  } catch {
    return given ? given[1] : '';
  }
})();

const ask = (path, signal) => fetch(path, {headers: {Authorization: `Bearer ${token}`}, signal, cache: 'no-store', credentials: 'omit', redirect: 'error'});

const pause = (milliseconds, signal) => new Promise(done => {
  const timer = setTimeout(done, milliseconds);
  signal.addEventListener('abort', () => (clearTimeout(timer), done()));
});

// The same for both questions about a moment, so that the program reads the recording once.
const columnsOfMoment = () => Math.min(2000, Math.max(300, Math.round(document.documentElement.clientWidth)));

function windowWords() {
  const words = new URLSearchParams({'window.section': part.section, 'window.first': part.first, 'window.lines': part.lines, 'window.columns': place.has('at') ? columnsOfMoment() : 600, 'window.counters': kPlots});
  if (place.has('at')) words.set('window.plots', 'apart');
  return words.toString();
}

// Numbers come as base64 of their bytes. What is not a number is not a value.
const bytesOf = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0)).buffer;
const listOf = numbers => Array.from(numbers, value => Number.isNaN(value) ? null : value);
const valuesOf = column => listOf(typeof column === 'string' ? new Float32Array(bytesOf(column)) : new Float64Array(bytesOf(column.wide)));

// Lines have one column for the low and the high values, and plots that of the plot before for the moments.
function unpacked(shown) {
  let times = [];
  for (const plot of shown.plots) {
    if (typeof plot.times === 'string') times = Array.from(new Float64Array(bytesOf(plot.times)));
    plot.times = times;
    for (const curve of plot.curves) {
      curve.low = curve.low ? valuesOf(curve.low) : [];
      curve.high = curve.high ? valuesOf(curve.high) : curve.low;
    }
  }
  for (const {lines} of shown.sections) for (const line of lines) if (line.trend) line.trend = valuesOf(line.trend);
  if (shown.over) unpacked(shown.over);
  return shown;
}

const joined = (before, [drop, keep], rest) => before.slice(drop, drop + keep).concat(rest);

function wholeLines(before, {lines, trends}) {
  const values = valuesOf(trends.values), lastKept = trends.kept.length - 1;
  let next = 0;
  return lines.map((part, at) => {
    const was = part.key === undefined ? before[part.was ?? at] : null, kept = trends.kept[Math.min(at, lastKept)], [drop, keep, more] = kept;
    const isSame = part === 0 && !drop && !more && keep === (was.trend || []).length;
    if (isSame) return was;
    const line = {...was, ...part}, rest = values.slice(next, next += more);
    if (was && part.cells) line.cells = part.cells.map((cell, at) => cell === 0 ? was.cells[at] : cell);
    line.trend = was?.trend ? joined(was.trend, kept, rest) : rest;
    return line;
  });
}

function wholePlots(before, {kept, times, bands, values}) {
  const all = valuesOf(values), moments = joined(before[0]?.times || [], kept, times);
  let next = 0;
  const column = was => joined(was, kept, all.slice(next, next += times.length));
  return before.map(plot => ({...plot, times: moments, curves: plot.curves.map(curve => {
    const low = column(curve.low), isLine = !bands && curve.high === curve.low;
    return {...curve, low, high: bands ? column(curve.high) : isLine ? low : joined(curve.high, kept, low.slice(low.length - times.length))};
  })}));
}

// Rows that have come at both ends are zero in what was there before.
function withRows(counts, [below, above]) {
  const low = Array(Math.max(0, below)).fill(0), high = Array(Math.max(0, above)).fill(0);
  return counts.map(column => column.length ? [...low, ...column.slice(Math.max(0, -below), column.length + Math.min(0, above)), ...high] : column);
}

// Puts back what a tail left out, which is as it was in the picture before.
function whole(tail) {
  const made = {...lastFull, ...tail};
  made.sections = tail.sections.map((section, at) => ({...lastFull.sections[at], ...section, lines: wholeLines(lastFull.sections[at].lines, section)}));
  if (tail.plots) made.plots = wholePlots(lastFull.plots, tail.plots);
  if (tail.heat) {
    const {heat} = lastFull, {kept, rows, times, counts} = tail.heat;
    made.heat = {...heat, ...tail.heat, times: joined(heat.times, kept, times), counts: joined(rows ? withRows(heat.counts, rows) : heat.counts, kept, counts)};
  }
  if (tail.histogram) made.histogram = {...lastFull.histogram, ...tail.histogram};
  return made;
}

function take(text, isTail) {
  const made = JSON.parse(text);
  if (isTail && !lastFull) return;
  picture = lastFull = isTail ? whole(made) : unpacked(made);
  isOfPlace = true;
  onPicture(picture);
}

// The program sends a word at least each five seconds.
const kSilence = 17000;
const kNoAnswer = 'The program that serves this page does not answer; it may have ended. Trying again.';
let silence = 0, isSilent = false;  // the timer, and that it has run out

function listen() {
  clearTimeout(silence);
  silence = setTimeout(() => onTrouble(kNoAnswer, isSilent = true), kSilence);
}

// Server-sent events, read by hand, because EventSource sends no header.
async function readEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    listen();
    if (isSilent) onTrouble('', isSilent = false);
    const events = (rest + value).split('\n\n');
    rest = events.pop();
    for (const event of events) {
      const found = /^event: (\w+)\ndata: (.*)$/s.exec(event);
      if (found) take(found[2], found[1] === 'tail');
    }
  }
}

// Columns of numbers as they lie in memory, behind a header in JSON.
function seriesOf(buffer) {
  const view = new DataView(buffer), bytes = view.getUint32(4, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, bytes)));
  let offset = 8 + bytes, times = [];
  const column = (count, Type) => {
    const numbers = new Type(buffer, offset, count);
    offset += Math.ceil(numbers.byteLength / 8) * 8;
    return numbers.some(Number.isNaN) ? Array.from(numbers, number => Number.isNaN(number) ? null : number) : numbers;
  };
  const plotsOf = plots => plots.map(plot => {
    if (plot.times) times = column(plot.points, Float64Array);
    const curves = plot.curves.map(curve => {
      const Type = curve.wide ? Float64Array : Float32Array, low = column(plot.points, Type);
      return {name: curve.name, low, high: curve.same ? low : column(plot.points, Type)};
    });
    return {...plot, times, curves};
  });
  return {plots: plotsOf(head.plots), over: head.over && plotsOf(head.over), unfinished: head.unfinished};
}

async function askSeries(link, signal) {
  const answer = await ask(`/series?${link}&window.counters=${kPlots}&window.columns=${columnsOfMoment()}`, signal);
  return answer.ok ? seriesOf(await answer.arrayBuffer()) : null;
}

async function follow() {
  running?.abort();
  if (fileData) return onPicture(picture = pictureOfFile());
  const {signal} = running = new AbortController();
  const link = place.toString();
  series = null;
  isOfPlace = false;
  const takeSeries = () => place.has('at') && askSeries(link, signal).then(found => {
    if (signal.aborted) return;
    series = found;
    if (isOfPlace && found) onPicture(picture);
    if (found?.unfinished) takeSeries();
  }, () => {});
  takeSeries();
  signal.addEventListener('abort', () => clearTimeout(silence));
  for (let wait = 1000; !signal.aborted; wait = Math.min(2 * wait, 15000)) {
    try {
      listen();
      const answer = await ask(`/stream?${link}&${windowWords()}`, signal);
      if (answer.ok) {
        wait = 1000;
        onTrouble('');
        await readEvents(answer.body);
      } else {
        clearTimeout(silence);
        const text = (await answer.text()).trim();
        onTrouble(text, true);
        if (answer.status < 500) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof SyntaxError || error instanceof TypeError === false) throw error;
    }
    if (signal.aborted) return;
    if (wait > 1000 || !picture) onTrouble(kNoAnswer, true);
    await pause(wait, signal);
  }
}
let series = null;  // plots of a place with a moment, which come apart
