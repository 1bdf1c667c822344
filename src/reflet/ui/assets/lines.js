// The lines between the columns: drawn for the rows that are in the window, as an ornament of what
// every row also says in words.

import {arrivalRow, containerRow, keyRow} from './model.js';
import {worst} from './words.js';

const SVG = 'http://www.w3.org/2000/svg';
const STUB = 36;
const AROUND = 300;

export class Lines {
  constructor(board) {
    this.board = board;
    this.svg = document.getElementById('lines');
    this.paths = new Map();  // by the rows at both ends
    this.reached = null;
    this.waiting = false;
    addEventListener('scroll', () => this.later(), {passive: true});
    addEventListener('resize', () => this.later());
  }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  // Shows the lines of these rows alone, or with null of all.
  trace(reached) {
    for (const row of document.querySelectorAll('.lit')) row.classList.remove('lit');
    this.reached = reached;
    document.body.classList.toggle('tracing', reached !== null);
    for (const id of reached ?? []) this.board.rows.get(id)?.classList.add('lit');
    this.later();
  }

  draw() {
    const origin = this.svg.getBoundingClientRect();
    const places = new Map();
    const place = id => {
      if (!places.has(id)) {
        const found = this.board.rows.get(id)?.getBoundingClientRect();
        places.set(id, found && found.width ? found : null);
      }
      return places.get(id);
    };
    const wanted = [];
    for (const section of this.board.sections.values()) {
      if (!section.filled || !section.checkVisibility()) continue;
      const block = this.board.blocks.get(section.block);
      if (block?.workload) this.collect(block, place, wanted);
    }
    // What did not move is not touched: it would be painted again.
    const kept = new Set();
    for (const [id, state, from, to, lit] of wanted) {
      const path = this.paths.get(id) ?? this.path(id);
      kept.add(id);
      const look = lit ? `${state} lit` : state;
      if (path.look !== look) path.setAttribute('class', path.look = look);
      const shape = curve(from, to, origin);
      if (path.shape !== shape) path.setAttribute('d', path.shape = shape);
    }
    for (const [id, path] of this.paths) {
      if (kept.has(id)) continue;
      path.remove();
      this.paths.delete(id);
    }
  }

  collect({id, workload}, place, wanted) {
    for (const arrival of workload.arrivals) {
      const row = arrivalRow(id, arrival);
      const middle = place(row);
      if (!middle) continue;
      const key = keyRow(arrival.source, arrival.key);
      const states = arrival.to.map(link => link.state);
      const start = place(key) ?? place(keyRow(arrival.source, '')) ?? {right: middle.left - STUB - 20, top: middle.top, bottom: middle.bottom};
      const state = worst(states);
      const lit = ids => this.reached !== null && ids.every(each => this.reached.has(each));
      if (near(start, middle)) wanted.push([`${key}>${row}`, state, start, middle, lit([row, key])]);
      for (const link of arrival.to) {
        const end = containerRow(id, link.pods, link.container);
        const right = place(end);
        if (right && near(middle, right)) wanted.push([`${row}>${end}`, link.state, middle, right, lit([row, end])]);
      }
    }
  }

  path(id) {
    const path = document.createElementNS(SVG, 'path');
    this.paths.set(id, path);
    this.svg.append(path);
    return path;
  }
}

const near = (one, two) =>
  Math.min(one.top, two.top) < innerHeight + AROUND && Math.max(one.bottom, two.bottom) > -AROUND;

function curve(from, to, origin) {
  const x1 = Math.round(from.right - origin.left + 5);
  const y1 = Math.round((from.top + Math.min(from.bottom, from.top + 24)) / 2 - origin.top);
  const x2 = Math.round(to.left - origin.left - 5);
  const y2 = Math.round((to.top + Math.min(to.bottom, to.top + 24)) / 2 - origin.top);
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}
