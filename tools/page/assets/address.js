// The address of the page is all that it knows of what it shows: a link as the program writes it.
let place = new URLSearchParams(location.search);

const usualSpan = 900;
const spanOf = () => Number(place.get('span')) || usualSpan;
// A moment as the server prints it has a fraction that a number of this language rounds down: the
// next microsecond is still the same moment.
const momentText = milliseconds => (Math.ceil(milliseconds * 1e3) / 1e6).toFixed(6);

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
  url.search = link;
  url.hash = '';
  if (location.protocol === 'file:') url.hash = '?' + link;
  history[replace ? 'replaceState' : 'pushState'](null, '', url);
  place = new URLSearchParams(link);
  arrive();
}

const change = (changes, how) => go(linkWith(changes), how);

window.addEventListener('popstate', () => {
  place = new URLSearchParams(location.protocol === 'file:' ? location.hash.slice(2) : location.search);
  arrive();
});
