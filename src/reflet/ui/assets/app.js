// The page: the document and its changes, the header, search, deep links and the keyboard.

import {Board, link} from './board.js';
import {Lines} from './lines.js';
import {Model} from './model.js';
import {follow} from './stream.js';
import {ago, clockTime, counted, dateTime, el, exactTime, numeral, PROBLEMS, setClock, short, STATE, STATES, stateText} from './words.js';

const by = id => document.getElementById(id);
const model = new Model();
let lines = null;
const board = new Board(model, () => lines?.later());
lines = new Lines(board);
let pinned = null;

// The document

function take(name, document) {
  const touched = name === 'document' ? null : model.change(document);
  if (name === 'document') model.replace(document);
  if (document.now) setClock(document.now, {stands: isReport});
  board.show(touched);
  header();
  edits();
  if (name === 'document') aim();
}

function header() {
  const {title, notes} = model.document;
  const {sources, workloads, pods} = model.totals();
  document.title = `${title} · reflet`;
  by('top').querySelector('h1').replaceChildren(el('span', {}, 'reflet '), title);
  by('summary').textContent = [
    counted(sources, 'object'), counted(pods, 'pod'), counted(workloads, 'workload')].join(' · ');
  by('notes').replaceChildren(...notes.map(note => el('p', {role: 'note'}, note)));
  const counts = model.counts();
  by('states').replaceChildren(...[...STATES].reverse().filter(state => counts[state] || state !== 'unknown').map(state =>
    el('button', {type: 'button', class: state, 'data-state': state, 'aria-pressed': String(model.states.has(state)),
      onclick: () => chooseStates(model.states.has(state) ? [] : [state])},
    el('b', {}, numeral(counts[state])), ' ', stateText(state))));
  const empty = !board.blocks.size;
  by('nothing').hidden = !empty;
  by('nothing').textContent = model.words.length || model.states.size || model.focus
    ? 'Nothing here matches. Esc shows everything.' : 'No pod here uses a ConfigMap or a Secret.';
}

function edits() {
  const list = model.document.edits;
  by('edits').hidden = !list.length;
  by('edit-list').replaceChildren(...list.map(edit => {
    const source = model.document.sources[edit.source];
    const name = source ? `${short(source.kind)}/${source.name}` : edit.source;
    return el('li', {class: 'edit'},
      el('time', {title: dateTime(edit.at)}, clockTime(edit.at)),
      el('a', {href: link(edit.source)}, name, ' ', edit.keys.join(', ')),
      el('div', {class: 'bar'}, edit.steps.map(step =>
        el('span', {class: `step ${step.state}`}, el('b', {}, step.stage), ' ', step.text || exactTime(edit.at)))));
  }));
}

// What is shown

function chooseStates(states) {
  model.states = new Set(states);
  show();
}

function show() {
  board.show();
  header();
  scrollTo({top: 0});
}

// The address after the # is the id of what is looked at, each part escaped by itself.
function aim() {
  const wanted = location.hash.slice(1).split('/').map(decodeURIComponent).join('/');
  if (wanted === 'board') return;
  model.focus = wanted;
  const chip = by('chosen');
  chip.hidden = !wanted;
  chip.replaceChildren('Only what ', el('b', {}, wanted), ' reaches ',
    el('button', {type: 'button', onclick: reset}, 'Show everything'));
  show();
  pinned = null;
  const [kind, namespace, name, ...key] = wanted.split('/');
  const source = [kind, namespace, name].join('/');
  if (key.length) pinned = `k\n${source}\n${key.join('/')}`;
  lines.trace(pinned ? model.reach(pinned) : null);
  if (!wanted) return;
  const found = board.rows.get(pinned) ?? document.querySelector(`[data-object="${CSS.escape(source)}"] a`);
  found?.focus({preventScroll: true});
}

function reset() {
  by('search').value = '';
  model.words = [];
  model.states = new Set();
  if (location.hash) location.hash = '';
  else aim();
}

// The keyboard

const rowsOf = column => [...column.querySelectorAll('[data-row]')];

function move(key) {
  const from = document.activeElement.closest?.('[data-row]');
  const sections = [...board.sections.values()];
  if (key === 'j' || key === 'k') {
    const here = sections.indexOf(document.activeElement.closest?.('.block'));
    const next = sections[here + (key === 'j' ? 1 : -1)] ?? sections[key === 'j' ? sections.length - 1 : 0];
    next?.scrollIntoView({block: 'center'});
    if (next && !next.filled) board.fill(next, board.blocks.get(next.block));
    return (next?.querySelector('.pods [data-row]') ?? next?.querySelector('[data-row]'))?.focus({preventScroll: true});
  }
  if (!from) return board.element.querySelector('[data-row]')?.focus();
  const column = from.closest('.column, .unused');
  if (key === 'ArrowDown' || key === 'ArrowUp') {
    const step = key === 'ArrowDown' ? 1 : -1;
    const rows = rowsOf(column);
    const next = rows[rows.indexOf(from) + step];
    if (next) return next.focus();
    const blocks = sections.map(section => section.children[[...column.parentNode.children].indexOf(column)]);
    for (let at = sections.indexOf(from.closest('.block')) + step; blocks[at]; at += step) {
      const found = rowsOf(blocks[at]);
      if (found.length) return found.at(step > 0 ? 0 : -1).focus();
    }
    return undefined;
  }
  // Sideways along a line: the nearest row of that column which is reached from here.
  const reached = [...model.reach(from.dataset.row)].map(id => board.rows.get(id)).filter(Boolean);
  const order = {k: 0, a: 1, c: 2};
  const wanted = order[from.dataset.row[0]] + (key === 'ArrowRight' ? 1 : -1);
  const away = row => Math.abs(row.getBoundingClientRect().top - from.getBoundingClientRect().top);
  return reached.filter(each => order[each.dataset.row[0]] === wanted)
    .sort((one, two) => away(one) - away(two))[0]?.focus();
}

function open(row) {
  const [kind, id, ...rest] = row.dataset.row.split('\n');
  const target = kind === 'k' ? `${id}/${rest[0]}` : kind === 'a' ? rest.slice(2).join('/') : id;
  location.hash = link(target);
}

addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
  const typing = event.target.matches?.('input');
  if (event.key === 'Escape') reset();
  else if (typing) return;
  else if (event.key === '/') by('search').focus();
  else if (event.key === '?') by('keys').showModal();
  else if (event.key === 'p') chooseStates(model.states.size ? [] : PROBLEMS);
  else if (event.key === 't') by('theme').click();
  else if (event.key === 'Enter' && event.target.matches?.('[data-row]')) open(event.target);
  else if (/^(j|k|Arrow(Up|Down|Left|Right))$/.test(event.key) && (event.target.dataset?.row || /j|k/.test(event.key))) move(event.key);
  else return;
  event.preventDefault();
});

// One row can be reached by Tab; the arrows choose which.
addEventListener('focusin', event => {
  const row = event.target.closest?.('[data-row]');
  if (!row) return;
  document.querySelector('[data-row][tabindex="0"]')?.setAttribute('tabindex', '-1');
  row.tabIndex = 0;
  lines.trace(model.reach(row.dataset.row));
});
for (const [begin, end] of [['pointerover', 'pointerout'], ['focusin', 'focusout']]) {
  by('blocks').addEventListener(begin, event => {
    const row = event.target.closest('[data-row]');
    if (row) lines.trace(model.reach(row.dataset.row));
  });
  by('blocks').addEventListener(end, () => lines.trace(pinned ? model.reach(pinned) : null));
}
by('blocks').addEventListener('click', event => {
  const row = event.target.closest('[data-row]');
  if (row && !event.target.closest('a, button')) open(row);
});

let typed = 0;
by('search').addEventListener('input', () => {
  clearTimeout(typed);
  typed = setTimeout(() => {
    model.words = by('search').value.toLowerCase().split(/\s+/).filter(Boolean);
    show();
  }, 80);
});
by('help').addEventListener('click', () => by('keys').showModal());

// Light and dark

const wantsDark = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (document.documentElement.dataset.theme ?? (wantsDark.matches ? 'dark' : 'light')) === 'dark';
const nameTheme = () => { by('theme').setAttribute('aria-label', isDark() ? 'Light colours' : 'Dark colours'); };
by('theme').addEventListener('click', () => {
  document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
  nameTheme();
});
wantsDark.addEventListener('change', nameTheme);
nameTheme();

// Life

setInterval(() => {
  for (const time of document.querySelectorAll('time[data-time]')) time.textContent = ago(Number(time.dataset.time));
}, 5000);
addEventListener('beforeprint', () => board.fillAll());
addEventListener('hashchange', aim);

function connection(state) {
  const words = {live: 'live', away: 'the server is away: trying again', report: `as it was at ${dateTime(model.document?.now ?? 0)}`};
  document.body.dataset.connection = state;
  by('connection').title = model.document ? `since ${dateTime(model.document.began)}` : '';
  if (by('connection').textContent !== words[state]) by('connection').textContent = words[state] ?? '';
}

// The token comes behind the #, which no browser sends, and leaves the address at once.
const TOKEN = 'reflet-token';
function token() {
  const given = /^#token=([\w-]+)$/.exec(location.hash);
  if (given) {
    sessionStorage.setItem(TOKEN, given[1]);
    history.replaceState(null, '', location.pathname);
  }
  return sessionStorage.getItem(TOKEN) ?? '';
}

function connect() {
  follow('events', token(), take, state => {
    connection(state);
    if (state === 'refused') by('door').showModal();
  });
}

by('door').addEventListener('close', () => {
  sessionStorage.setItem(TOKEN, by('token').value.trim().replace(/^.*token=/, ''));
  by('token').value = '';
  connect();
});

const embedded = by('document');
const isReport = embedded !== null;
if (isReport) {
  take('document', JSON.parse(embedded.textContent));
  connection('report');
} else connect();
