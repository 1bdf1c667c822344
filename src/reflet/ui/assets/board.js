// The three columns. A block is a workload with the ways in which configuration reaches it, and the
// objects that are met there first; only blocks near the window hold elements.

import {arrivalRow, containerRow, hasProblem, keyRow, stateOf} from './model.js';
import {ago, breakable, bytes, counted, el, numeral, short, STATE, STATES, stateText, WAYS, worst} from './words.js';

const FEW_BLOCKS = 30;  // all of them are filled: the browser's own search finds everything
const FEW_ROWS = 8;  // of a card, beside those with a problem
const FEWER_ROWS = 3;  // the same where there are many blocks
const NEAR = '900px 0px';

export class Board {
  constructor(model, onChange) {
    this.model = model;
    this.onChange = onChange;
    this.element = document.getElementById('blocks');
    this.rows = new Map();  // of filled blocks: the id of a row, and its element
    this.sections = new Map();  // the id of a block, and its element
    this.blocks = new Map();
    this.few = true;
    this.opened = new Set();  // cards of which every row is shown
    this.observer = new IntersectionObserver(seen => this.seen(seen), {rootMargin: NEAR});
    new ResizeObserver(() => onChange()).observe(this.element);
  }

  // Shows the blocks of the model; those that stay are filled again if one of `touched` is in them.
  show(touched = null) {
    const blocks = this.model.blocks();
    const before = this.blocks;
    this.blocks = new Map(blocks.map(block => [block.id, block]));
    const few = blocks.length <= FEW_BLOCKS;
    if (few !== this.few) touched = null;
    this.few = few;
    this.element.classList.toggle('few', few);
    for (const [id, section] of this.sections) {
      if (this.blocks.has(id)) continue;
      this.observer.unobserve(section);
      this.empty(section);
      section.remove();
      this.sections.delete(id);
    }
    let last = null;
    for (const block of blocks) {
      const section = this.sections.get(block.id) ?? this.section(block);
      const place = last ? last.nextSibling : this.element.firstChild;
      if (place !== section) this.element.insertBefore(section, place);
      last = section;
      const old = before.get(block.id);
      const stays = old && touched && !touched.has(block.id) && block.sources.join() === old.sources.join()
        && !block.sources.some(source => touched.has(source));
      if (!stays) this.refresh(section, block);
    }
    if (few) this.fillAll();
    this.onChange();
  }

  get most() {
    return this.few ? FEW_ROWS : FEWER_ROWS;
  }

  fillAll() {
    for (const [id, section] of this.sections) if (!section.filled) this.fill(section, this.blocks.get(id));
  }

  section(block) {
    const section = el('section', {class: 'block', id: `block ${block.id}`});
    section.block = block.id;
    this.sections.set(block.id, section);
    this.observer.observe(section);
    return section;
  }

  refresh(section, block) {
    if (section.filled) return this.fill(section, block);
    section.style.minHeight = `${estimate(block)}px`;
    section.replaceChildren(heading(block));
  }

  seen(entries) {
    for (const {target, isIntersecting} of entries) {
      const block = this.blocks.get(target.block);
      if (!block) continue;
      if (isIntersecting && !target.filled) this.fill(target, block);
      else if (!isIntersecting && target.filled && !this.few && !target.contains(document.activeElement)) {
        target.style.minHeight = `${target.offsetHeight}px`;
        this.empty(target);
        target.replaceChildren(heading(block));
      }
    }
    this.onChange();
  }

  empty(section) {
    for (const row of section.querySelectorAll('[data-row]')) {
      if (this.rows.get(row.dataset.row) === row) this.rows.delete(row.dataset.row);
    }
    section.filled = false;
  }

  fill(section, block) {
    const active = section.contains(document.activeElement) ? document.activeElement.dataset.row : null;
    this.empty(section);
    section.filled = true;
    section.style.minHeight = '';
    const rank = id => STATES.indexOf(this.model.sourceStates.get(id) ?? 'current');
    const cards = [...block.sources].sort((one, two) => rank(one) - rank(two)).map(id => this.sourceCard(id));
    if (block.workload) {
      section.replaceChildren(
        heading(block),
        el('div', {class: 'column'}, cards),
        el('div', {class: 'column'}, this.arrivalCards(block)),
        el('div', {class: 'column'}, block.workload.pods.map((pods, at) => this.podsCard(block, pods, at))),
        ...block.workload.sentences.map(sentence),
      );
    } else section.replaceChildren(heading(block), el('div', {class: 'unused'}, cards));
    for (const row of section.querySelectorAll('[data-row]')) this.rows.set(row.dataset.row, row);
    if (active) this.rows.get(active)?.focus({preventScroll: true});
  }

  sourceCard(id) {
    const source = this.model.document.sources[id];
    if (!source) return null;
    const used = this.model.usedKeys.get(id) ?? new Set();
    const wanted = [...used].filter(key => key && !source.keys.some(each => each.name === key))
      .map(key => ({name: key, absent: true}));
    const keys = [...source.keys, ...wanted];
    const states = new Map(keys.map(key => [key.name, this.model.keyStates.get(keyRow(id, key.name))]));
    const lines = keys.filter(key => states.get(key.name));
    // Where there are many, an object with nothing to say is one line.
    const most = this.few || lines.some(key => states.get(key.name) !== 'current') ? this.most : 0;
    const first = lines.filter((key, at) => at < most || states.get(key.name) !== 'current');
    const rest = keys.filter(key => !first.includes(key));
    const facts = source.status === 'missing' ? ['does not exist'] : [
      source.status === 'unread' && 'cannot be read',
      source.edited && ['edited ', time(source.edited), ' ago', source.by ? ` by ${source.by}` : ''],
      source.immutable && 'immutable',
      source.version && `rv ${source.version}`,
    ];
    if (this.model.isWide) facts.unshift(source.namespace);
    return el('article', {class: 'card source', 'data-object': id},
      el('h3', {'data-row': keyRow(id, ''), class: 'head', tabindex: '-1'},
        el('a', {href: link(id), tabindex: '-1'}, `${short(source.kind)}/`, breakable(source.name))),
      meta(facts),
      this.list(`source ${id}`, first, key => this.keyLine(id, source, key, states.get(key.name)), rest, first.length ? 'more key' : 'key'));
  }

  keyLine(id, source, key, state) {
    return row(keyRow(id, key.name), state,
      el('span', {class: 'name'}, breakable(key.name)),
      el('span', {class: 'value', title: key.text}, key.absent ? (source.status === 'unread' ? 'not known' : 'no such key')
        : key.text === undefined ? `‹${bytes(key.size)}›` : key.text || '(empty)'),
      state && state !== 'current' ? el('span', {class: 'unseen'}, STATE[state].label) : null);
  }

  arrivalCards({id, workload}) {
    return Object.keys(WAYS).map(way => {
      const lines = workload.arrivals.filter(arrival => arrival.way === way)
        .map(arrival => [arrival, worst(arrival.to.map(each => each.state))])
        .sort(([, one], [, two]) => STATES.indexOf(one) - STATES.indexOf(two));
      if (!lines.length) return null;
      const first = lines.filter(([, state], at) => state !== 'current' || at < this.most);
      const [title, remark] = WAYS[way];
      return el('article', {class: 'card arrival'},
        el('h3', {}, title, ' ', el('small', {}, remark)),
        this.list(`${id} ${way}`, first, each => this.arrivalLine(id, ...each), lines.slice(first.length), 'more, current'));
    });
  }

  arrivalLine(id, arrival, state) {
    const source = this.model.document.sources[arrival.source];
    const from = source ? `${short(source.kind)}/${source.name}` : arrival.source;
    const inferred = state !== 'current' && arrival.to.some(each => each.state === state && each.inferred);
    return row(arrivalRow(id, arrival), state,
      el('span', {class: 'name'}, breakable(arrival.name)),
      stateText(state, inferred ? ', it seems' : ''),
      el('a', {class: 'from', href: link(arrival.source), tabindex: '-1'}, '← ', from,
        arrival.key && arrival.key !== arrival.name ? ` ${arrival.key}` : ''));
  }

  podsCard({id, workload}, pods, at) {
    const name = `${short(workload.kind)}/`;
    const states = pods.containers.map(container => worst(workload.arrivals.flatMap(arrival => arrival.to)
      .filter(each => each.pods === at && each.container === container.name).map(each => each.state)));
    const more = pods.count - pods.names.length;
    const shown = workload.kind === 'Pod' ? '' : pods.names.join(', ') + (more > 0 ? ` and ${more} more` : '');
    return el('article', {class: 'card pods', 'data-object': id},
      el('h3', {'data-row': containerRow(id, at, ''), class: 'head', tabindex: '-1'},
        el('a', {href: link(id), tabindex: '-1'}, name, breakable(workload.name)),
        pods.count > 1 ? el('b', {class: 'times', title: counted(pods.count, 'pod')}, ` ×${pods.count}`) : null),
      meta([this.model.isWide && workload.namespace, [pods.phase, pods.since ? [' ', time(pods.since)] : ''], shown]),
      el('ul', {}, pods.containers.map((container, index) => row(containerRow(id, at, container.name), states[index],
        el('span', {class: 'name'}, container.name, container.init ? el('small', {}, ' init') : ''),
        stateText(states[index])))));
  }

  list(id, first, line, rest, noun) {
    const lines = first.map(line);
    if (rest.length && (this.opened.has(id) || rest.length === 1)) lines.push(...rest.map(line));
    else if (rest.length) {
      const words = noun.includes(',') ? `${numeral(rest.length)} ${noun}` : counted(rest.length, noun);
      const open = event => {
        this.opened.add(id);
        const section = event.target.closest('section');
        this.fill(section, this.blocks.get(section.block));
        this.onChange();
      };
      lines.push(el('li', {class: 'fold'}, el('button', {type: 'button', onclick: open}, `+ ${words}`)));
    }
    return lines.length ? el('ul', {}, lines) : null;
  }
}

const row = (id, state, ...children) =>
  el('li', {class: `row ${state ?? 'idle'}`, 'data-row': id, tabindex: '-1'}, ...children);

export const link = id => `#${id.split('/').map(encodeURIComponent).join('/')}`;

const time = moment => el('time', {'data-time': moment}, ago(moment));

function meta(facts) {
  const there = facts.filter(Boolean);
  const parts = there.flatMap((fact, at) => (at ? [' · ', fact] : [fact])).flat(3);
  return there.length ? el('p', {class: 'meta'}, parts) : null;
}

function heading(block) {
  if (!block.workload) {
    return block.first ? el('h2', {class: 'rest'}, `${counted(block.count, 'object')} that no pod here uses`) : el('span');
  }
  const {kind, namespace, name, pods} = block.workload;
  const count = pods.reduce((sum, each) => sum + each.count, 0);
  return el('h2', {class: 'unseen', tabindex: '-1'},
    `${kind} ${name} in ${namespace}, ${counted(count, 'pod')}: ${STATE[stateOf(block.workload)].label}`);
}

function sentence({state, title, text, command, at}) {
  const copy = async event => {
    await navigator.clipboard.writeText(command);
    event.target.textContent = 'Copied';
  };
  const said = text.split('{ago}').flatMap((part, index) => (index && at ? [time(at), part] : [part]));
  return el('aside', {class: `why ${state}`, 'aria-label': title},
    el('div', {}, el('strong', {}, el('i', {'aria-hidden': 'true'}, `${STATE[state].mark} `), title), el('p', {}, said)),
    command ? el('p', {class: 'command'}, el('code', {tabindex: '0'}, command), el('button', {type: 'button', onclick: copy}, 'Copy')) : null);
}

function estimate({workload, sources}) {
  if (!workload) return 60 + Math.ceil(sources.length / 3) * 90;
  const ways = new Set(workload.arrivals.map(arrival => arrival.way)).size;
  const left = sources.length * 110;
  const middle = ways * 50 + Math.min(workload.arrivals.length, ways * (FEW_ROWS + 1)) * 40;
  const right = workload.pods.reduce((sum, each) => sum + 62 + each.containers.length * 24, 0);
  return Math.max(left, middle, right) + workload.sentences.length * 90 + (hasProblem(workload) ? 10 : 0);
}
