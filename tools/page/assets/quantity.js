// Values with their units, as the program's tables print them: tools/cli/format/quantity.cpp and tools/units/base_unit.cpp.
const kDecimal = [[1e18, 'E'], [1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
const kBinary = [[2 ** 60, 'Ei'], [2 ** 50, 'Pi'], [2 ** 40, 'Ti'], [2 ** 30, 'Gi'], [2 ** 20, 'Mi'], [2 ** 10, 'Ki']];
const kSmallTimes = [[1, ''], [1e-3, 'm'], [1e-6, '\u00b5'], [1e-9, 'n']];
const kMeanings = {
  '10*-2': ['1', .01], '10*-3': ['1', .001], ns: ['s', 1e-9], us: ['s', 1e-6], ms: ['s', 1e-3], min: ['s', 60], h: ['s', 3600], d: ['s', 86400],
  kBy: ['By', 1e3], MBy: ['By', 1e6], KiBy: ['By', 2 ** 10], MiBy: ['By', 2 ** 20], GiBy: ['By', 2 ** 30], MHz: ['Hz', 1e6], kHz: ['Hz', 1e3],
};

// The base of a unit, how many of it there are in one, and the symbol behind a prefix.
function unitOf(text) {
  const per = text.endsWith('/s') ? '/s' : '', code = text.slice(0, text.length - per.length);
  const [base, factor] = kMeanings[code] || [code, 1];
  const word = base === '1' || base[0] === '{' ? '' : base === 'By' ? 'B' : base;
  return {factor, whole: base + per, symbol: word + per, isBinary: base === 'By', isTime: base === 's' && !per, isCount: !text};
}

// Multiplying by a part is not exact where dividing by a whole number is.
const inBase = (value, {factor}) => factor < 1 ? value / Math.round(1 / factor) : value * factor;

function digitsOf(value) {
  const size = Math.abs(value);
  if (size >= 1e7) return value.toExponential(2);
  if (size >= 99.95 || Number.isInteger(value)) return value.toFixed(0);
  return size >= 9.995 ? value.toFixed(1) : size >= .01 ? value.toFixed(2) : String(Number(value.toPrecision(2)));
}

function durationOf(seconds) {
  if (seconds < 0) return '-' + durationOf(-seconds);
  if (seconds < 59.95) {
    const [size, prefix] = kSmallTimes.find(([size]) => seconds >= .9995 * size || !seconds) || kSmallTimes[3];
    return `${digitsOf(seconds / size)} ${prefix}s`;
  }
  if (seconds > 1e15) return `${seconds.toExponential(2)} s`;
  const whole = Math.round(seconds), [small, size, names] = whole < 3600 ? [1, 60, 'ms'] : whole < 86400 ? [60, 3600, 'hm'] : [3600, 86400, 'dh'];
  return `${Math.floor(whole / size)}${names[0]}${twoOf(Math.floor(whole % size / small))}${names[1]}`;
}

// Beyond 2^53 not all digits of a whole number are known.
function unscaled(value) {
  if (Math.abs(value) >= 2 ** 53) return value.toExponential(2);
  if (Number.isInteger(value)) return String(BigInt(value));
  return Math.abs(value) >= 1 ? value.toFixed(3) : String(Number(value.toPrecision(4)));
}

function quantity(value, text = '') {
  if (value === null || value === undefined || Number.isNaN(value)) return '\u2013';
  const unit = unitOf(text), number = inBase(value, unit);
  if (place.has('base-units')) return `${unscaled(number)} ${unit.whole === '1' ? '' : unit.whole}`.trim();
  if (text === '%') return `${value.toFixed(1)} %`;
  if (unit.isTime) return durationOf(number);
  if (unit.isCount && Number.isInteger(value)) return unscaled(value);
  const [size, prefix] = (unit.isBinary ? kBinary : kDecimal).find(([size]) => Math.abs(number) >= .9995 * size) || [1, ''];
  return `${digitsOf(number / size)} ${prefix}${unit.symbol}`.trim();
}

// ---- Along an axis ----

// Not with all digits of a count.
const shortQuantity = (value, text) => quantity(value, text || '1');

// At least `least` apart, in numbers that are round in the unit as it is printed.
function stepOf(least, top, unit) {
  const base = inBase(least, unit), isBase = place.has('base-units'), long = unit.isTime && !isBase && inBase(top, unit) >= 60 && base >= .5;
  if (long) return (kTimeSteps.find(step => step >= 1e3 * base) / 1e3 || base) / inBase(1, unit);
  if (unit.isBinary && base >= 1 && !isBase) return 2 ** Math.ceil(Math.log2(base)) / inBase(1, unit);
  const size = 10 ** Math.floor(Math.log10(base));
  return [1, 2, 2.5, 5, 10].find(factor => factor * size > base * .999) * size / inBase(1, unit);
}

function roundTicks(bottom, top, least, text) {
  const step = stepOf(least, Math.max(-bottom, top), unitOf(text)), first = Math.ceil(bottom / step), found = new Set();
  // Where numbers are farther apart than steps, several are one.
  for (let at = 0; at < 99 && (first + at) * step <= top; ++at) found.add((first + at) * step);
  const ticks = [...found], labels = labelsOf(ticks, step, text);
  return ticks.map((tick, at) => [tick, labels[at]]);
}

// All labels have one prefix, and as many digits as tell them apart; in base units none has one.
function labelsOf(ticks, step, text) {
  const unit = unitOf(text), most = inBase(Math.max(...ticks.map(Math.abs)), unit), apart = inBase(step, unit), isBase = place.has('base-units');
  if (unit.isTime && most >= 60 && !isBase) {
    const words = ticks.map(tick => durationOf(inBase(tick, unit)));
    if (new Set(words).size === words.length) return words;
  }
  const prefixes = text === '%' || isBase ? [] : unit.isTime ? kSmallTimes : unit.isBinary ? kBinary : kDecimal;
  const [size, prefix] = prefixes.find(([size]) => most >= .9995 * size) || (unit.isTime && !isBase ? kSmallTimes[3] : [1, '']);
  const part = apart / size, symbol = !isBase ? unit.symbol : unit.whole === '1' ? '' : unit.whole;
  let digits = 0;
  while (digits < 9 && Math.abs(part * 10 ** digits - Math.round(part * 10 ** digits)) > 1e-6 * part * 10 ** digits) ++digits;
  // There is room for so many digits. With more, labels tell how far they are above the first.
  if (digits > 5 && !isBase) return ticks.map((tick, at) => at ? '+' + quantity(tick - ticks[0], text) : shortQuantity(tick, text));
  return ticks.map(tick => {
    if (!tick) return shortQuantity(0, text);
    const number = inBase(tick, unit) / size;
    const word = Math.abs(number) >= 1e7 && !isBase ? number.toExponential(2) : number.toFixed(digits);
    return `${word} ${prefix}${symbol}`.trim();
  });
}
