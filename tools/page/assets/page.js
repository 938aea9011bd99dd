// The page as a whole: what a picture looks like, and what happens when one comes.
const chartsBox = element('div', {class: 'charts'}), othersBox = element('div', {class: 'charts others'});
let trouble = '';

function theme() {
  try {
    return localStorage.getItem('meterbank-theme') || 'system';
  } catch {
    return 'system';
  }
}

function useTheme() {
  const dark = theme() === 'dark' || (theme() === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.toggleAttribute('data-dark', dark);
  setAttribute(byId('theme'), 'aria-label', `Colours: ${theme() === 'system' ? 'as the system' : theme()}`);
  colours = {};
  if (picture) onPicture(picture);
}

function nextTheme() {
  const themes = ['system', 'dark', 'light'];
  try {
    localStorage.setItem('meterbank-theme', themes[(themes.indexOf(theme()) + 1) % 3]);
  } catch { /* a page without storage keeps the colours of the system */ }
  useTheme();
}

function drawCrumbs(crumbs) {
  const nav = byId('crumbs'), shape = JSON.stringify(crumbs);
  if (nav.shape === shape) return;
  nav.shape = shape;
  nav.replaceChildren(...crumbs.map((crumb, at) => at + 1 === crumbs.length
    ? element('b', {'aria-current': 'page', title: crumb.text}, crumb.text)
    : element('a', {href: lead + crumb.link, title: crumb.text}, crumb.text)));
  const name = crumbs.length > 1 ? crumbs[crumbs.length - 1].text + ' \u00b7 ' : '';
  document.title = name + 'meterbank';
}

function drawState(shown) {
  const node = byId('moment'), isPast = place.has('at');
  const state = trouble && isLost ? 'lost' : isPast ? 'frozen' : shown?.live ? 'live' : 'recording';
  setAttribute(node, 'data-state', state);
  const word = {lost: 'no answer', frozen: 'at', live: 'live', recording: 'recording'}[state];
  setText(node, shown ? `${word} ${clock(shown.time, isPast)}` : word);
  setAttribute(byId('freeze'), 'aria-pressed', String(isPast));
  setText(byId('freeze'), isPast && !shown?.live ? 'End' : isPast ? 'Go on' : 'Freeze');
}
let isLost = false;

function drawTools() {
  const filter = byId('filter');
  if (document.activeElement !== filter) filter.value = place.get('filter') || '';
  for (const [id, name] of [['zeros', 'hide-zeros'], ['stored', 'stored'], ['units', 'base-units'], ['log', 'log']]) setAttribute(byId(id), 'aria-pressed', String(place.has(name)));
  setText(byId('group'), {provider: 'By provider', label: 'By label'}[place.get('group')] || 'Group');
  setText(byId('sort'), place.get('sort') ? `By ${place.get('sort')}` : 'Sort');
  const span = byId('span'), now = String(spanOf());
  if (![...span.options].some(option => option.value === now)) {
    span.querySelector('[data-odd]')?.remove();
    span.append(element('option', {value: now, 'data-odd': true}, quantity(spanOf(), 's')));
  }
  span.value = now;
}

// Lays the curves of the second recording over those of the first.
function overlaid(plot, others, shift) {
  const other = others?.find(candidate => candidate.title === plot.title && candidate.unit === plot.unit);
  if (!other) return plot;
  const times = other.times.map(time => time + shift);
  return {...plot, curves: [...plot.curves, ...other.curves.map(curve => ({...curve, times, name: `${curve.name} (second)`, isOther: true}))]};
}

function drawProblems(shown) {
  const problems = [trouble, ...(shown?.problems || [])].filter(Boolean);
  byId('problems').hidden = !problems.length;
  setText(byId('problems'), problems.join('\n'));
}

onPicture = shown => {
  if (held || document.hidden && shown.live) return;
  const main = byId('content');
  lastPlots = place.has('at') && !fileData ? series || lastPlots : {plots: shown.plots, over: shown.over?.plots};
  const plots = lastPlots.plots.map(plot => overlaid(plot, lastPlots.over, shown.shift));
  const wantsCharts = plots.length || shown.heat || shown.histogram;
  if (wantsCharts && chartsBox.parentNode !== main) main.prepend(chartsBox);
  if (!wantsCharts) chartsBox.remove();
  // All cards take their places before any is drawn, because that decides their widths.
  if (plots.length < 2) othersBox.remove();
  else if (othersBox.parentNode !== main) main.append(othersBox);
  placeCharts(plots, chartsBox, othersBox);
  const cards = [[shown.heat, heatCard, drawHeat], [shown.histogram, barsCard, drawHistogram]];
  cards.reduceRight((next, [data, {card}]) => {
    if (!data) return card.remove(), next;
    if (card.parentNode !== chartsBox) chartsBox.insertBefore(card, next);
    return card;
  }, null);
  // Sizes are asked for before any text changes, because an answer after that takes a layout of the page.
  const widths = plots.map((plot, index) => widthOf(chartOf(index)));
  const sizes = cards.map(([, {canvas}]) => [canvas.clientWidth, canvas.clientHeight]);
  drawCrumbs(shown.crumbs);
  drawState(shown);
  drawProblems(shown);
  const isFirst = plots.length && !chartOf(0).scale;
  plots.forEach((plot, index) => {
    const chart = chartOf(index);
    chart.draw = width => shown === picture && drawChart(index, plot, width);
    // Each is drawn once even where it is out of sight, because that gives it a name.
    if (isFirst ? !index : !chart.isAway || !chart.scale) chart.draw(widths[index]);
  });
  if (isFirst) {
    held = setTimeout(() => (held = 0, onPicture(picture)), 32);
    return;
  }
  cards.forEach(([data, , draw], at) => data && draw(data, ...sizes[at]));
  drawTables(shown.sections);
  for (const table of tables.values()) if (table.card.parentNode !== main) main.insertBefore(table.card, othersBox.parentNode ? othersBox : null);
  tables.forEach(drawTrends);
  byId('content').setAttribute('aria-busy', 'false');
};
let lastPlots = {plots: []};
// The timer that waits until the first plot is on the screen. The rest is drawn then, with the newest picture.
let held = 0;

onTrouble = (text, lost = false) => {
  trouble = text;
  isLost = lost;
  drawState(picture);
  drawProblems(picture);
};

let lastIdentity = '', lastOrder = '';
function arrive() {
  const identity = ['screen', 'provider', 'set', 'instance'].map(name => place.get(name)).join('\n');
  if (identity !== lastIdentity) {
    part = {section: 0, first: 0, lines: 100};
    lastPlots = {plots: []};
    if (lastIdentity && selected()) byId('content').focus({preventScroll: true});
    clearTimeout(held);
    held = 0;
    for (const table of tables.values()) table.card.remove();
    tables.clear();
    placeCharts([]);
    window.scrollTo(0, 0);
  }
  lastIdentity = identity;
  // Other rows come first then.
  const order = ['filter', 'sort', 'ascending', 'group', 'hide-zeros'].map(name => place.get(name)).join('\n');
  if (order !== lastOrder) part.first = 0;
  lastOrder = order;
  drawTools();
  follow();
}

function start() {
  const span = byId('span');
  for (const seconds of kSpans) span.append(element('option', {value: seconds}, quantitySpan(seconds)));
  span.onchange = () => change({span: Number(span.value) === usualSpan ? null : span.value}, {replace: true});
  let typing = 0;
  byId('filter').oninput = event => {
    clearTimeout(typing);
    typing = setTimeout(() => change({filter: event.target.value}, {replace: true}), 120);
  };
  for (const [key, help, act, id] of kKeys) {
    if (!id) continue;
    byId(id).onclick = () => act();
    byId(id).title = `${help}  ${keyName(key)}`;
  }
  // Links within the page change the place and load nothing.
  document.addEventListener('click', event => {
    const link = event.target.closest?.(`a[href^="${lead}"]`);
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(link.getAttribute('href').slice(lead.length));
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', useTheme);
  document.addEventListener('visibilitychange', () => !document.hidden && picture && onPicture(picture));
  useTheme();
  readFileData().then(() => {
    if (isFile) place = new URLSearchParams(location.hash.startsWith('#?') ? location.hash.slice(2) : '');
    // A file has no values but the printed ones, and rows in no groups.
    if (fileData) for (const id of ['stored', 'units', 'group']) byId(id).hidden = true;
    arrive();
  });
}

function quantitySpan(seconds) {
  const units = [[604800, 'week'], [86400, 'day'], [3600, 'hour'], [60, 'minute'], [1, 'second']];
  const [size, name] = units.find(([size]) => seconds >= size);
  const count = seconds / size;
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

start();
