// Where pictures come from: a stream of the program that serves this page, or what a file holds.
let picture = null;      // what is shown
let lastFull = null;     // the plots and the heat map that tails are parts of
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

function windowWords() {
  const words = new URLSearchParams({'window.section': part.section, 'window.first': part.first, 'window.lines': part.lines, 'window.columns': 600, 'window.counters': kPlots});
  if (place.has('at')) words.set('window.plots', 'apart');
  return words.toString();
}

// Puts what a tail left out back from the picture before.
function whole(tail) {
  if (!tail.kept || !lastFull) return tail;
  const join = (before, [drop, keep], rest) => before.slice(drop, drop + keep).concat(rest);
  tail.trends.forEach((lines, section) => lines.forEach((kept, at) => {
    const line = tail.sections[section].lines[at];
    if (kept[1]) line.trend = join(lastFull.sections[section].lines[at].trend, kept, line.trend || []);
  }));
  tail.plots.forEach((plot, at) => {
    const before = lastFull.plots[at], kept = tail.kept[at];
    plot.times = join(before.times, kept, plot.times);
    plot.curves.forEach((curve, index) => {
      curve.low = join(before.curves[index].low, kept, curve.low);
      curve.high = join(before.curves[index].high, kept, curve.high);
    });
  });
  if (tail.heat && tail.heatKept) {
    tail.heat.times = join(lastFull.heat.times, tail.heatKept, tail.heat.times);
    tail.heat.counts = join(lastFull.heat.counts, tail.heatKept, tail.heat.counts);
  }
  return tail;
}

function take(text, isTail) {
  const made = JSON.parse(text);
  lastFull = isTail ? whole(made) : made;
  picture = lastFull;
  onPicture(picture);
}

// Server-sent events, read by hand, because EventSource sends no header.
async function readEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
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
  let offset = 8 + bytes;
  const column = count => {
    const numbers = new Float64Array(buffer, offset, count);
    offset += 8 * count;
    return numbers.some(Number.isNaN) ? Array.from(numbers, number => Number.isNaN(number) ? null : number) : numbers;
  };
  return head.plots.map(plot => {
    const made = {...plot, times: column(plot.points)};
    made.curves = plot.curves.map(curve => {
      const low = column(plot.points);
      return {name: curve.name, low, high: curve.same ? low : column(plot.points)};
    });
    return made;
  });
}

async function askSeries(link, signal) {
  const answer = await ask(`/series?${link}&window.counters=${kPlots}&window.columns=${Math.min(2000, Math.max(300, Math.round(document.documentElement.clientWidth)))}`, signal);
  return answer.ok ? seriesOf(await answer.arrayBuffer()) : null;
}

async function follow() {
  running?.abort();
  if (fileData) return onPicture(picture = pictureOfFile());
  const {signal} = running = new AbortController();
  const link = place.toString();
  series = null;
  if (place.has('at')) {
    askSeries(link, signal).then(found => {
      series = found;
      if (picture && found && !signal.aborted) onPicture(picture);
    }, () => {});
  }
  for (let wait = 1000; !signal.aborted; wait = Math.min(2 * wait, 15000)) {
    try {
      const answer = await ask(`/stream?${link}&${windowWords()}`, signal);
      if (answer.ok) {
        wait = 1000;
        onTrouble('');
        await readEvents(answer.body);
      } else {
        const text = (await answer.text()).trim();
        onTrouble(text);
        if (answer.status < 500) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof SyntaxError || error instanceof TypeError === false) throw error;
    }
    if (signal.aborted) return;
    if (wait > 1000 || !picture) onTrouble('The program that serves this page does not answer; it may have ended. Trying again.', true);
    await pause(wait, signal);
  }
}
let series = null;  // plots of a place with a moment, which come apart
