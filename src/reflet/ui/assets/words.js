// What the page calls things: states, kinds, ways of arriving, sizes and times.

export const STATES = ['missing', 'needs-restart', 'on-its-way', 'unknown', 'current'];  // worst first
export const STATE = {
  'missing': {label: 'missing', mark: '✕'},
  'needs-restart': {label: 'needs a restart', mark: '▲'},
  'on-its-way': {label: 'on its way', mark: '◐'},
  'unknown': {label: 'not known', mark: '?'},
  'current': {label: 'current', mark: '●'},
};
export const PROBLEMS = ['missing', 'needs-restart', 'on-its-way'];

export const WAYS = {
  'variable': ['variables', 'fixed at start'],
  'file': ['files', 'follow by themselves'],
  'subPath': ['subPath files', 'never follow'],
  'pullSecret': ['pull secrets', 'read at the next pull'],
  'volumeCredentials': ['volume credentials', 'read at the next mount'],
};

const SHORT = {
  ConfigMap: 'cm', Secret: 'secret', Deployment: 'deploy', StatefulSet: 'sts', DaemonSet: 'ds',
  ReplicaSet: 'rs', ReplicationController: 'rc', Job: 'job', CronJob: 'cronjob', Pod: 'pod',
};

export const short = kind => SHORT[kind] ?? kind.toLowerCase();
export const worst = states => STATES.find(state => states.includes(state)) ?? 'current';
const NUMBERS = new Intl.NumberFormat('en');
export const numeral = number => NUMBERS.format(number);
export const counted = (number, noun) => `${numeral(number)} ${noun}${number === 1 ? '' : 's'}`;

export function bytes(size) {
  if (size < 10_000) return `${size} B`;
  return size < 1_000_000 ? `${Math.round(size / 1024)} KiB` : `${(size / 1048576).toFixed(1)} MiB`;
}

export function span(seconds) {
  if (seconds < 60) return `${Math.max(0, Math.floor(seconds))} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 2 * 86400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86400)} d`;
}

export function took(milliseconds) {
  if (milliseconds < 1) return '<1 ms';
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

// Times are seconds since 1970, of the clock of the server: `skew` is how far ours is behind.
let skew = 0;
let frozen = null;
export function setClock(now, {stands}) {
  skew = now - Date.now() / 1000;
  frozen = stands ? now : null;
}
export const ago = time => span((frozen ?? Date.now() / 1000 + skew) - time);
export const clockTime = time => new Date(time * 1000).toTimeString().slice(0, 8);
export const exactTime = time => `${clockTime(time)}.${String(Math.floor(time * 1000) % 1000).padStart(3, '0')}`;
export const dateTime = time => new Date(time * 1000).toISOString().slice(0, 19).replace('T', ' ') + ' UTC';

// The only way in which this page makes elements: text stays text, whatever somebody put in a ConfigMap.
export function el(tag, props, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === false || value === null) continue;
    if (name === 'class') made.className = value;
    else if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.flat().filter(child => child !== null && child !== undefined && child !== ''));
  return made;
}

export const stateText = (state, more = '') =>
  el('span', {class: `state ${state}`}, el('i', {'aria-hidden': 'true'}, STATE[state].mark), ' ', STATE[state].label, more);

// Names with a place to break, for a column that is narrower than they are.
export function breakable(text) {
  const parts = text.split(/(?<=[/._-])/);
  return parts.flatMap((part, at) => (at ? [el('wbr'), part] : [part]));
}
