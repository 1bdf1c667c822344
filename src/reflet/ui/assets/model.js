// The document that the server sends, changes applied to it, and what follows from it: which workloads
// match, where each object's card stands, which keys are used, and what a line reaches.

import {PROBLEMS, STATES, WAYS, worst} from './words.js';

const UNUSED_IN_A_BLOCK = 24;

export const keyRow = (source, key) => `k\n${source}\n${key}`;
export const arrivalRow = (workload, arrival) =>
  `a\n${workload}\n${arrival.way}\n${arrival.name}\n${arrival.source}\n${arrival.key}`;
export const containerRow = (workload, pods, container) => `c\n${workload}\n${pods}\n${container}`;

export class Model {
  constructor() {
    this.document = null;
    this.words = [];
    this.states = new Set();
    this.focus = '';  // the id of an object or workload, or of a key: KIND/NAMESPACE/NAME[/KEY]
    this.order = [];
  }

  replace(document) {
    this.document = document;
    this.order = [];
    this.settle();
  }

  // Takes a change and answers with the ids of sources and workloads that are different now.
  change(delta) {
    const touched = new Set();
    for (const part of ['sources', 'workloads']) {
      for (const [id, item] of Object.entries(delta[part] ?? {})) {
        if (item === null) delete this.document[part][id];
        else this.document[part][id] = item;
        touched.add(id);
      }
    }
    for (const part of ['edits', 'notes', 'now']) {
      if (delta[part] !== undefined) this.document[part] = delta[part];
    }
    this.settle();
    // A key shows the worst of its lines, so that its card depends on every workload that has it.
    for (const id of [...touched]) {
      for (const arrival of this.document.workloads[id]?.arrivals ?? []) touched.add(arrival.source);
    }
    return touched;
  }

  // What is derived from the document alone. Those that are there keep their place when states change:
  // a page must not jump below the hand of its reader.
  settle() {
    const {workloads, sources} = this.document;
    this.keyStates = new Map();
    for (const workload of Object.values(workloads)) {
      for (const arrival of workload.arrivals) {
        const row = keyRow(arrival.source, arrival.key);
        const states = arrival.to.map(link => link.state);
        this.keyStates.set(row, worst([...states, this.keyStates.get(row) ?? 'current']));
      }
    }
    this.usedKeys = new Map();
    this.sourceStates = new Map();
    for (const [row, state] of this.keyStates) {
      const [, source, key] = row.split('\n');
      if (!this.usedKeys.has(source)) this.usedKeys.set(source, new Set());
      this.usedKeys.get(source).add(key);
      this.sourceStates.set(source, worst([state, this.sourceStates.get(source) ?? 'current']));
    }
    const namespaces = [...Object.values(workloads), ...Object.values(sources)].map(each => each.namespace);
    this.isWide = new Set(namespaces).size > 1;
    this.order = this.order.filter(id => id in workloads);
    const known = new Set(this.order);
    const rank = id => STATES.indexOf(stateOf(workloads[id]));
    const news = Object.keys(workloads).filter(id => !known.has(id));
    this.order.push(...news.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1)));
    this.unused = Object.keys(sources).filter(id => !this.usedKeys.has(id)).sort();
  }

  // How many lines, from a key to a container, are in each state.
  counts() {
    const counts = Object.fromEntries(STATES.map(state => [state, 0]));
    for (const workload of Object.values(this.document.workloads)) {
      for (const arrival of workload.arrivals) {
        for (const link of arrival.to) counts[link.state] += workload.pods[link.pods].count;
      }
    }
    return counts;
  }

  totals() {
    const workloads = Object.values(this.document.workloads);
    return {
      sources: Object.keys(this.document.sources).length,
      workloads: workloads.length,
      pods: workloads.reduce((sum, each) => sum + each.pods.reduce((n, pods) => n + pods.count, 0), 0),
    };
  }

  // The blocks to show, in order: {id, workload, sources}, where each source stands in the first
  // workload that has it, and objects that nobody uses come last.
  blocks() {
    const blocks = [];
    const home = this.home = new Map();
    for (const id of this.order) {
      const workload = this.document.workloads[id];
      if (!this.shows(id, workload)) continue;
      const sources = [];
      // In the order of the middle column, so that few lines cross.
      for (const way of Object.keys(WAYS)) {
        for (const arrival of workload.arrivals) {
          if (arrival.way !== way || home.has(arrival.source)) continue;
          home.set(arrival.source, id);
          sources.push(arrival.source);
        }
      }
      blocks.push({id, workload, sources});
    }
    const unused = this.states.size ? [] : this.unused.filter(id => this.showsUnused(id));
    for (let at = 0; at < unused.length; at += UNUSED_IN_A_BLOCK) {
      const id = `unused ${at / UNUSED_IN_A_BLOCK}`;
      const sources = unused.slice(at, at + UNUSED_IN_A_BLOCK);
      for (const source of sources) home.set(source, id);
      blocks.push({id, workload: null, sources, first: at === 0, count: unused.length});
    }
    return blocks;
  }

  shows(id, workload) {
    if (this.states.size && !linkStates(workload).some(state => this.states.has(state))) return false;
    if (this.focus && !this.isFocus(id, workload)) return false;
    return !this.words.length || matches(this.words, workloadText(id, workload));
  }

  isFocus(id, workload) {
    return this.focus === id || workload.arrivals.some(({source, key}) =>
      source === this.focus || `${source}/${key}` === this.focus);
  }

  showsUnused(id) {
    const source = this.document.sources[id];
    if (this.focus && this.focus !== id && !this.focus.startsWith(`${id}/`)) return false;
    return !this.words.length || matches(this.words, `${id} ${source.keys.map(key => key.name).join(' ')}`);
  }

  // Every row that is on a line with this one; those of all its keys, or containers, for a heading.
  reach(row) {
    const [kind, ...parts] = row.split('\n');
    const reached = new Set([row]);
    for (const [id, workload] of Object.entries(this.document.workloads)) {
      if (kind !== 'k' && parts[0] !== id) continue;
      for (const arrival of workload.arrivals) {
        const own = arrivalRow(id, arrival);
        const key = keyRow(arrival.source, arrival.key);
        const ends = arrival.to.map(link => containerRow(id, link.pods, link.container));
        const whole = kind === 'k' ? row === keyRow(arrival.source, '') : kind === 'c' && parts[2] === '';
        if (whole || row === key || row === own || ends.includes(row)) {
          reached.add(own).add(key);
          for (const end of kind === 'c' && !whole ? [row] : ends) reached.add(end);
        }
      }
    }
    return reached;
  }
}

const linkStates = workload => workload.arrivals.flatMap(arrival => arrival.to.map(link => link.state));
export const stateOf = workload => worst(linkStates(workload));
export const hasProblem = workload => PROBLEMS.includes(stateOf(workload));

function workloadText(id, workload) {
  const arrivals = workload.arrivals.map(each => `${each.name} ${each.source} ${each.key}`);
  const pods = workload.pods.map(each =>
    `${each.names.join(' ')} ${each.containers.map(one => one.name).join(' ')}`);
  return [id, ...arrivals, ...pods].join(' ');
}

function matches(words, text) {
  const small = text.toLowerCase();
  return words.every(word => small.includes(word));
}
