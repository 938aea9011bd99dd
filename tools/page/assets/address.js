// The address of the page is all that it knows of what it shows: a link as the program writes it.
let place = new URLSearchParams(location.search);

const usualSpan = 900;
const spanOf = () => Number(place.get('span')) || usualSpan;
// A number of this language rounds a moment by a part of a microsecond, up or down. The place of a time between two
// moments is that of the first, so it must not be before it.
const momentText = milliseconds => (Math.ceil(milliseconds * 1e3 + .5) / 1e6).toFixed(6);
// A file reads its place behind the '#'.
const isFile = location.protocol === 'file:', lead = isFile ? '#?' : '?';

function linkWith(changes, from = place) {
  const next = new URLSearchParams(from);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === false || value === '') next.delete(name);
    else next.set(name, value === true ? '1' : String(value));
  }
  return next.toString();
}

// A place is entered: the way back leads to the one before, unless only a detail changed.
function go(link, {replace = false} = {}) {
  const url = new URL(location.href);
  if (isFile) url.hash = '?' + link;
  else (url.search = link, url.hash = '');
  history[replace ? 'replaceState' : 'pushState'](null, '', url);
  place = new URLSearchParams(link);
  arrive();
}

const change = (changes, how) => go(linkWith(changes), how);

window.addEventListener('popstate', () => {
  place = new URLSearchParams(isFile ? location.hash.slice(2) : location.search);
  arrive();
});
