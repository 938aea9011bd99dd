// A page that was written to a file has its pictures in itself, and answers what else a server would: rows that are
// searched and sorted, and plots of a part of the time.
let fileData = null;

async function readFileData() {
  const holder = byId('data');
  if (!holder) return;
  const bytes = Uint8Array.from(atob(holder.textContent.trim()), byte => byte.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  fileData = JSON.parse(await new Response(stream).text());
  fileData.pictures.forEach(unpacked);
}

const kSizes = {...Object.fromEntries([...kDecimal, ...kBinary, ...kSmallTimes].map(([size, prefix]) => [prefix, size])), u: 1e-6};
const kSeconds = {d: 86400, h: 3600, m: 60, s: 1};

// Of a text of quantity(): "2h03m", "12.3 k", "1.50 GiB/s", "120 \u00b5s".
function numberOf(text) {
  const long = /^(-?)(\d+)([dhm])(\d\d)([hms])$/.exec(text);
  if (long) return (long[1] ? -1 : 1) * (long[2] * kSeconds[long[3]] + long[4] * kSeconds[long[5]]);
  const found = /^(-?[\d.]+(?:e[-+]?\d+)?)(?:\s*([KMGTPE]i|[ETGMk]|P(?!a)|[m\u00b5un](?=s)))?/.exec(text.replace(/,/g, ''));
  return found ? Number(found[1]) * kSizes[found[2] || ''] : -Infinity;
}

const textOf = cell => cell?.text ?? cell ?? '';

function linesOf(section) {
  const filter = (place.get('filter') || '').toLowerCase();
  const glob = /[*?]/.test(filter) && new RegExp(`^${filter.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*').replace(/\?/g, '.')}$`);
  let lines = section.lines.filter(line => !filter || line.cells.some(cell => {
    const text = textOf(cell).toLowerCase();
    return glob ? glob.test(text) : text.includes(filter);
  }));
  const numbers = section.columns.map((column, at) => column.number ? at : -1).filter(at => at >= 0);
  if (place.has('hide-zeros')) lines = lines.filter(line => numbers.some(at => ![0, -Infinity].includes(numberOf(textOf(line.cells[at])))));
  const by = section.columns.findIndex(column => column.heading === place.get('sort'));
  if (by >= 0) {
    const sign = place.has('ascending') ? 1 : -1, isNumber = section.columns[by].number;
    const value = line => isNumber ? numberOf(textOf(line.cells[by])) : textOf(line.cells[by]);
    lines = [...lines].sort((one, other) => {
      const a = value(one), b = value(other);
      // Words begin with A unless it is to be the other way round.
      return isNumber ? sign * (a - b) || 0 : -sign * a.localeCompare(b, undefined, {numeric: true});
    });
  }
  const pins = place.getAll('pin');
  lines = lines.map(line => ({...line, pinned: pins.includes(line.key)}));
  return [...lines.filter(line => line.pinned), ...lines.filter(line => !line.pinned)];
}

const kIdentity = ['screen', 'provider', 'set', 'instance', 'counter'];

// The chosen counter, then those of the other rows: each has a picture of its own.
function picturesOf(found, section) {
  const made = [found];
  for (const line of found.plots.length ? section.lines : []) {
    const words = new URLSearchParams(line.opens), key = kIdentity.map(name => words.get(name) || '').join('\n');
    const other = fileData.pictures[fileData.keys[key]], title = other?.plots[0]?.title;
    if (made.length < kPlots && title && made.every(known => known.plots[0].title !== title)) made.push(other);
  }
  return made;
}

function pictureOfFile() {
  const key = names => names.map(name => place.get(name) || (name === 'screen' ? 'overview' : '')).join('\n');
  const {pictures, keys} = fileData;
  let found = pictures[keys[key(kIdentity)]];
  if (!found && place.has('counter')) found = pictures[keys[key(kIdentity.slice(0, 4)) + '\n']];
  if (!found && !place.has('provider')) {
    // A shorter link leaves out which of several providers is meant.
    const rest = kIdentity.filter(name => name !== 'provider');
    const known = Object.keys(keys).find(known => known.split('\n').toSpliced(1, 1).join('\n') === key(rest));
    found = pictures[keys[known]];
  }
  const problems = found ? [...found.problems] : ['This file does not hold what the address names; here is its overview.', ...fileData.problems];
  found ||= pictures[0];
  const end = place.has('at') ? Number(place.get('at')) * 1e3 : found.last, begin = place.has('span') ? end - spanOf() * 1e3 : place.has('at') ? end - usualSpan * 1e3 : -Infinity;
  const isIn = time => time >= begin && time <= end;
  const cut = (times, list) => list.filter((value, at) => isIn(times[at]));
  const cutPlot = (plot, shift) => {
    const times = plot.times.map(time => time + shift);
    return {...plot, log: place.has('log'), times: plot.times.filter((time, at) => isIn(times[at])), curves: plot.curves.map(curve => ({...curve, low: cut(times, curve.low), high: cut(times, curve.high)}))};
  };
  const moments = found.plots[0]?.times || [], time = place.has('at') && moments.findLast(time => time <= end) || found.time;
  if (time !== found.time) problems.push(`The tables of a file show its last moment, ${clock(found.time)}.`);
  const made = {...found, problems, moments, time};
  made.sections = found.sections.map(section => {
    const lines = linesOf(section);
    return {...section, lines: lines.slice(0, 1000), first: 0, total: lines.length};
  });
  const shown = picturesOf(found, made.sections[0]);
  made.plots = shown.flatMap(one => one.plots.map(plot => cutPlot(plot, 0)));
  if (found.over) made.over = {...found.over, plots: shown.flatMap(one => (one.over?.plots || []).map(plot => cutPlot(plot, found.shift)))};
  if (found.heat) made.heat = {...found.heat, times: found.heat.times.filter(isIn), counts: cut(found.heat.times, found.heat.counts)};
  return made;
}
