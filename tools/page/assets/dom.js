// Elements. Texts of counters become text nodes, never markup: the policy of the page forbids all ways to parse a string.
const byId = id => document.getElementById(id);

function element(name, properties, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === 'class') made.className = value;
    else if (key.startsWith('on')) made[key] = value;
    else made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children.filter(child => child !== undefined && child !== null));
  return made;
}

// The text of an element without other children. Its text node stays, because another one takes more of a layout.
function setText(node, text) {
  const kept = node.firstChild;
  if (kept?.nodeType !== Node.TEXT_NODE) node.textContent = text;
  else if (kept.data !== text) kept.data = text;
}

function setAttribute(node, name, value) {
  if (value === undefined || value === null || value === false) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else if (node.getAttribute(name) !== String(value)) {
    node.setAttribute(name, value);
  }
}

let colours = {};  // as the style has them; forgotten when it changes
const colour = name => colours[name] ||= getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const isDark = () => document.documentElement.hasAttribute('data-dark');
// Told apart by those who see no red or green, on both backgrounds.
const curveColours = () => isDark()
  ? ['#62aaff', '#f2a33c', '#4fd1a5', '#e678c8', '#d9d14b', '#9d8cff', '#ff7a66', '#7fc8e8']
  : ['#0b63c5', '#c25e00', '#0a8a5f', '#b02f8f', '#7d7300', '#5b45c9', '#c8321f', '#1f7fa3'];

// A canvas with as many pixels as its screen has, and its size in units of CSS.
function drawing(canvas, width = canvas.clientWidth, height = canvas.clientHeight) {
  const ratio = window.devicePixelRatio || 1;
  const wide = Math.round(width * ratio), high = Math.round(height * ratio);
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    // Stays until the next change of size. Setting it takes an update of the style.
    canvas.getContext('2d').font = '11px system-ui,sans-serif';
  }
  const pen = canvas.getContext('2d');
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return {pen, width, height};
}

const twoOf = number => String(number).padStart(2, '0');

function clock(milliseconds, precise) {
  const date = new Date(milliseconds);
  const time = `${twoOf(date.getHours())}:${twoOf(date.getMinutes())}:${twoOf(date.getSeconds())}`;
  const part = precise && date.getMilliseconds() ? '.' + String(date.getMilliseconds()).padStart(3, '0') : '';
  const day = `${date.getFullYear()}-${twoOf(date.getMonth() + 1)}-${twoOf(date.getDate())} `;
  return (date.toDateString() === new Date().toDateString() ? '' : day) + time + part;
}
