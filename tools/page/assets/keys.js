// What buttons and keys do. The letters are those of the terminal.
const kGroupings = ['none', 'provider', 'label'];
const kSpans = [30, 60, 300, 900, 3600, 14400, 43200, 86400, 604800];

const flip = name => change({[name]: !place.has(name)}, {replace: true});

function sortNext() {
  const columns = picture?.sections[part.section]?.columns || picture?.sections[0]?.columns || [];
  const next = columns.findIndex(column => column.heading === place.get('sort')) + 1;
  change({sort: next < columns.length ? columns[next].heading : null, ascending: null}, {replace: true});
}

function groupNext() {
  const next = kGroupings[(kGroupings.indexOf(place.get('group') || 'none') + 1) % kGroupings.length];
  change({group: next === 'none' ? null : next}, {replace: true});
}

function freeze() {
  change({at: place.has('at') ? null : momentText(picture.time)}, {replace: true});
}

// The moment before or after the one that is shown: the server knows which there are.
async function step(direction) {
  if (!picture) return;
  if (fileData) {
    const times = picture.moments, now = picture.time;
    const next = direction < 0 ? times.findLast(time => time < now) : times.find(time => time > now);
    if (next !== undefined) change({at: momentText(next)}, {replace: true});
    return;
  }
  const answer = await ask(`/moment?${place}&window.step=${direction < 0 ? 'earlier' : 'later'}`).catch(() => null);
  if (!answer) return onTrouble(kNoAnswer, true);
  if (answer.status === 204) return direction > 0 && picture.live && change({at: null}, {replace: true});
  if (answer.ok) go((await answer.text()).trim(), {replace: true});
  else onTrouble((await answer.text()).trim());
}

function stepSpan(direction) {
  const now = spanOf();
  const next = direction > 0 ? kSpans.find(span => span > now) : kSpans.findLast(span => span < now) ?? (now > 1 && Math.max(1, now / 2));
  if (next) change({span: next === usualSpan ? null : next}, {replace: true});
}

function mark() {
  if (!picture) return;
  const near = marks.findIndex(time => Math.abs(time - picture.time) < 1);
  if (near >= 0) marks.splice(near, 1);
  else marks.push(picture.time);
  onPicture(picture);
}

function nextMark() {
  if (!marks.length || !picture) return;
  const sorted = [...marks].sort((a, b) => a - b);
  change({at: momentText(sorted.find(time => time > picture.time + 1) ?? sorted[0])}, {replace: true});
}

function pin() {
  const row = selected();
  if (!row) return;
  const pins = place.getAll('pin'), {key} = row.line;
  const next = new URLSearchParams(place);
  next.delete('pin');
  for (const other of pins.includes(key) ? pins.filter(pinned => pinned !== key) : [...pins, key]) next.append('pin', other);
  go(next.toString(), {replace: true});
}

function up() {
  const screen = place.get('screen'), other = {filter: null, sort: null, ascending: null, pin: null, counter: null};
  if (screen === 'instance') go(linkWith({...other, screen: 'set', instance: null}));
  else if (screen === 'set') go(linkWith({...other, screen: 'overview', set: null, provider: null}));
  else if (place.has('provider')) go(linkWith({...other, provider: null}));
}

function moveRow(distance) {
  const rows = [...document.querySelectorAll('tbody tr')];
  const at = rows.indexOf(selected());
  const row = rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? 0 : at + distance))];
  row?.focus();
  row?.scrollIntoView({block: 'nearest'});
}

function openRow() {
  const row = selected();
  if (row?.line.opens) go(row.line.opens);
}

// The counter of the plots: of a row's columns, the one to the left or to the right.
function moveColumn(distance) {
  const section = picture?.sections[tableIndex()];
  const at = section ? section.chosen + distance : -1;
  if (section && section.columns[at]?.number && picture.link.includes('screen=set')) change({counter: section.columns[at].heading}, {replace: true});
}
const tableIndex = () => selected()?.closest('section')?.tableOf.index ?? 0;

const kKeys = [
  ['/', 'Search rows; Escape clears', () => byId('filter').focus()],
  ['s', 'Sort by the next column', sortNext, 'sort'],
  ['S', 'The other way round', () => change({ascending: !place.has('ascending')}, {replace: true})],
  ['g', 'Group rows', groupNext, 'group'],
  ['p', 'Pin the row above the others', pin],
  ['d', 'Hide zeros', () => flip('hide-zeros'), 'zeros'],
  ['r', 'Values as they are stored', () => flip('stored'), 'stored'],
  ['e', 'Base units', () => flip('base-units'), 'units'],
  ['l', 'Logarithmic plots', () => flip('log'), 'log'],
  [' ', 'Freeze, or go on', freeze, 'freeze'],
  ['[', 'Earlier moment', () => step(-1), 'earlier'],
  [']', 'Later moment', () => step(1), 'later'],
  ['t', 'Go to a time', () => askTime(), 'time'],
  ['m', 'Mark this moment, or forget it', mark, 'mark'],
  ["'", 'Next mark', nextMark],
  ['+', 'A longer time in plots', () => stepSpan(1)],
  ['-', 'A shorter time in plots', () => stepSpan(-1)],
  ['j', 'Row below; also the arrow', () => moveRow(1)],
  ['k', 'Row above; also the arrow', () => moveRow(-1)],
  ['Enter', 'Open the row', openRow],
  ['Backspace', 'One level up', up],
  ['<', 'Column to the left for trends and plots', () => moveColumn(-1)],
  ['>', 'Column to the right for trends and plots', () => moveColumn(1)],
  ['v', 'Details of the row', () => (hidesDetails = !hidesDetails, showDetails())],
  ['c', 'Dark, light or as the system', () => nextTheme(), 'theme'],
  ['?', 'These keys', () => showKeys(), 'help'],
];

const keyName = key => key === ' ' ? 'space' : key;

document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId('dialog').open) return;
  const target = event.target, isTyping = target.matches('input,select,textarea');
  if (event.key === 'Escape') {
    if (target.id === 'filter') (target.value = '', change({filter: null}, {replace: true}), target.blur());
    return;
  }
  if (isTyping) return;
  const isControl = target.matches('button,a');
  if (isControl && (event.key === ' ' || event.key === 'Enter')) return;
  const isRow = target.matches('tr');
  const arrow = {ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -1e6, End: 1e6}[event.key];
  if (arrow && isRow) return event.preventDefault(), moveRow(arrow);
  if (target.matches('.plot,.heat') && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) return event.preventDefault(), void step(event.key === 'ArrowLeft' ? -1 : 1);
  const known = kKeys.find(([key]) => key === event.key);
  if (!known || byId(known[3])?.hidden) return;
  event.preventDefault();
  known[2]();
});

function openDialog(title, ...content) {
  const dialog = byId('dialog');
  dialog.replaceChildren(element('h2', {id: 'dialog-title'}, title), ...content);
  dialog.showModal();
}

function showKeys() {
  openDialog('Keys', element('dl', {}, ...kKeys.flatMap(([key, help]) => [element('dt', {}, element('kbd', {}, keyName(key))), element('dd', {}, help)])),
    element('p', {class: 'faint'}, 'Drag over a plot to look closer. Click a moment to see the values of that time.'),
    element('form', {method: 'dialog'}, element('button', {}, 'Close')));
}

function askTime() {
  const field = element('input', {type: 'datetime-local', step: '0.001', min: '1970-01-02T00:00', max: '9999-12-31T23:59', required: '', 'aria-label': 'Time'});
  if (picture) {
    const local = new Date(picture.time - new Date(picture.time).getTimezoneOffset() * 6e4);
    field.value = local.toISOString().slice(0, 23);
  }
  const form = element('form', {method: 'dialog'}, field, element('button', {}, 'Go'), element('button', {type: 'button', onclick: () => (byId('dialog').close(), change({at: null}))}, 'Newest'));
  form.onsubmit = () => {
    const time = new Date(field.value).getTime();
    if (Number.isFinite(time)) change({at: momentText(time)});
  };
  openDialog('Go to a time', form);
  field.focus();
}
