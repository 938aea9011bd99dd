// Sections as tables. Rows are kept by their keys, so that a moment changes only what differs.
const tables = new Map();
// Parts of long tables: which section, and its first row. The other sections begin at their first.
let part = {section: 0, first: 0, lines: 100};

function tableOf(index) {
  let table = tables.get(index);
  if (table) return table;
  const id = `section-${index}`;
  table = {index, rows: new Map(), title: element('span'), count: element('small'), head: element('tr'), body: element('tbody'), more: element('div', {class: 'more'}), trends: element('canvas', {'aria-hidden': 'true'}), empty: element('p', {class: 'empty'})};
  table.card = element('section', {class: 'card', 'aria-labelledby': id},
    element('h2', {id}, table.title, table.count),
    element('div', {class: 'scroll', tabindex: '-1'},
      element('table', {'aria-labelledby': id}, element('thead', {}, table.head), table.body)), table.empty, table.more);
  table.card.tableOf = table;
  tables.set(index, table);
  return table;
}

function drawHead(table, section) {
  const sort = place.get('sort') || '', ascending = place.has('ascending');
  const shape = JSON.stringify([section.columns, section.trend, section.chosen, sort, ascending]);
  if (table.shape === shape) return;
  const focused = table.head.contains(document.activeElement) ? [...table.head.querySelectorAll('button')].indexOf(document.activeElement) : -1;
  table.shape = shape;
  const heads = section.columns.map(column => {
    const isSorted = sort === column.heading;
    const direction = isSorted ? (ascending === column.number ? 'ascending' : 'descending') : undefined;
    const button = element('button', {title: column.help || undefined, 'aria-label': `Sort by ${column.heading}`, onclick: () => sortBy(column.heading)}, column.heading || '\u2013');
    return element('th', {scope: 'col', class: column.number ? 'number' : undefined, 'aria-sort': direction}, button);
  });
  if (section.trend) heads.push(element('th', {scope: 'col', class: 'trend'}, section.trend));
  table.head.replaceChildren(...heads);
  if (focused >= 0) table.head.querySelectorAll('button')[focused]?.focus();
}

function sortBy(heading) {
  if (place.get('sort') !== heading) change({sort: heading, ascending: null}, {replace: true});
  else if (!place.has('ascending')) change({ascending: true}, {replace: true});
  else change({sort: null, ascending: null}, {replace: true});
}

function rowOf(table, line) {
  const row = element('tr', {tabindex: '-1'});
  row.onfocus = () => select(table, row);
  row.onclick = event => {
    if (event.target.tagName !== 'A') row.focus();
  };
  row.ondblclick = () => row.line.opens && go(row.line.opens);
  row.cellsOf = [];
  return row;
}

function drawRow(row, line, section) {
  row.line = line;
  const width = section.columns.length;
  while (row.cellsOf.length < width) {
    const cell = element('td');
    row.cellsOf.push(cell);
    row.append(cell);
  }
  while (row.cellsOf.length > width) row.cellsOf.pop().remove();
  section.columns.forEach((column, at) => {
    const cell = row.cellsOf[at], value = line.cells[at] ?? '';
    const text = value.text ?? value, mood = value.mood || '';
    const look = `${column.number ? 'number ' : ''}${mood}`.trim();
    if (cell.className !== look) cell.className = look;
    if (at === 0 && line.opens) {
      if (!cell.link) cell.replaceChildren(cell.link = element('a', {tabindex: '-1'}));
      setAttribute(cell.link, 'href', lead + line.opens);
      setText(cell.link, text || '\u2013');
    } else {
      if (cell.link) delete cell.link;
      setText(cell, text);
    }
    setAttribute(cell, 'title', text.length > 40 ? text : undefined);
  });
  const look = [line.pinned && 'pinned', line.group && 'heading'].filter(Boolean).join(' ');
  if (row.className !== look) row.className = look;
  if (section.trend && !row.trendOf) row.append(row.trendOf = element('td', {class: 'trend'}));
  else if (!section.trend && row.trendOf) (row.trendOf.remove(), row.trendOf = undefined);
  else if (row.trendOf && row.lastChild !== row.trendOf) row.append(row.trendOf);
}

const kTrendWidth = 120, kTrendHeight = 20;

function layTrend(pixels, values, top, ratio) {
  let low = Infinity, high = -Infinity;
  for (const value of values) if (value !== null) (low = Math.min(low, value), high = Math.max(high, value));
  if (low === Infinity || values.length < 2) return;
  const least = Math.min(low, high > 0 && low > 0 && low < high * .6 ? 0 : low), range = high - least;
  const y = value => range ? kTrendHeight - 2 - (value - least) / range * (kTrendHeight - 4) : kTrendHeight / 2;
  const xs = values.map((value, at) => (1 + at * (kTrendWidth - 2) / (values.length - 1)) * ratio);
  trace(pixels, xs, values.map(value => value === null ? NaN : (top + y(value)) * ratio));
  layLine(pixels, inkOf(colour('--accent')));
}

// All trends of a table are one picture, which the cell of the first row holds: each canvas has a price of its own.
function drawTrends(table) {
  const rows = [...table.body.rows], cell = rows[0]?.trendOf, canvas = table.trends;
  if (!cell) return canvas.remove();
  if (canvas.parentNode !== cell) cell.append(canvas);
  if (table.high !== rows.length) {
    table.high = rows.length;
    table.pitch = (rows[rows.length - 1].getBoundingClientRect().bottom - rows[0].getBoundingClientRect().top) / rows.length;
    canvas.style.height = `${table.pitch * rows.length - 2}px`;
  }
  const {pen, height} = drawing(canvas, kTrendWidth, table.pitch * rows.length - 2), ratio = devicePixelRatio;
  table.pixels = pixelsOf(Math.round(kTrendWidth * ratio), Math.round(height * ratio), table.pixels);
  rows.forEach((row, at) => row.line.trend && layTrend(table.pixels, row.line.trend, at * table.pitch + 4, ratio));
  pen.putImageData(table.pixels.image, 0, 0);
}

function drawSection(index, section) {
  const table = tableOf(index);
  setText(table.title, section.title);
  setText(table.count, section.total === section.all ? `${section.all}` : `${section.total} of ${section.all}`);
  drawHead(table, section);
  const seen = new Set();
  let after = null;
  for (const line of section.lines) {
    let row = table.rows.get(line.key);
    if (!row) table.rows.set(line.key, row = rowOf(table, line));
    seen.add(line.key);
    drawRow(row, line, section);
    const next = after ? after.nextSibling : table.body.firstChild;
    if (next !== row) {
      const hadFocus = row === document.activeElement;
      table.body.insertBefore(row, next);
      if (hadFocus) row.focus({preventScroll: true});
    }
    after = row;
  }
  for (const [key, row] of table.rows) if (!seen.has(key)) (row.remove(), table.rows.delete(key));
  const rows = [...table.body.rows];
  // One row of each table is reached by Tab; arrows lead to the others.
  if (!rows.some(row => row.tabIndex === 0) && rows.length) rows[0].tabIndex = 0;
  table.empty.hidden = section.lines.length !== 0;
  setText(table.empty, place.has('filter') ? 'No row passes the search.' : 'There is nothing here now.');
  drawMore(table, section);
}

function drawMore(table, section) {
  const end = section.first + section.lines.length;
  const isPart = section.first > 0 || end < section.total;
  table.more.hidden = !isPart;
  if (!isPart) return;
  if (!table.pager) {
    const page = (text, label, step) => element('button', {'aria-label': label, onclick: () => showPart(table.index, step)}, text);
    table.pager = {text: element('span'), before: page('\u2039 Before', 'Rows before', -1), after: page('More \u203a', 'More rows', 1)};
    table.more.append(table.pager.before, table.pager.after, table.pager.text);
  }
  table.section = section;
  setText(table.pager.text, `${section.first + 1} to ${end} of ${section.total}`);
  table.pager.before.disabled = section.first === 0;
  table.pager.after.disabled = end >= section.total;
}

function showPart(index, step) {
  const section = tables.get(index).section;
  const isOther = part.section !== index;
  const first = isOther ? 0 : Math.max(0, section.first + step * part.lines);
  part = {section: index, first, lines: 100};
  follow();
}

function select(table, row) {
  for (const other of document.querySelectorAll('tr[aria-selected]')) if (other !== row) other.removeAttribute('aria-selected');
  row.setAttribute('aria-selected', 'true');
  for (const other of table.body.rows) other.tabIndex = other === row ? 0 : -1;
  showDetails(row);
}

const selected = () => document.querySelector('tr[aria-selected]');

function showDetails(row = selected()) {
  const details = byId('details'), lines = row && row.line.details;
  details.hidden = hidesDetails || !lines || !lines.length;
  if (lines) setText(details, lines.join('\n'));
}
let hidesDetails = false;

function drawTables(sections) {
  sections.forEach((section, index) => drawSection(index, section));
  for (const [index, table] of tables) if (index >= sections.length) (table.card.remove(), tables.delete(index));
  showDetails();
}
