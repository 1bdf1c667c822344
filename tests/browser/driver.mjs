// Drives a browser for tests: a JSON command in each line of standard input, an answer in each line
// of standard output.  Knows nothing of the page that is tested.
//
//   {"tab": 0, "do": "open", "args": [{colorScheme: "dark"}]}   another tab; the answer is its number
//   {"tab": 1, "do": "click", "args": ["#theme"]}               any method of playwright's Page
//   {"tab": 1, "do": "until", "args": ["x > 3", 5000]}          waits for an expression, milliseconds
//   {"tab": 1, "do": "complaints"}                              what the console said that is no news
//   {"tab": 1, "do": "axe"}                                     what is not accessible
//   {"tab": 1, "do": "seconds"}                                 of the main thread, by kind of work

import {createRequire} from 'node:module';
import {createInterface} from 'node:readline';

const [, , folder, program, data] = process.argv;
const require = createRequire(`${folder}/`);
const {chromium} = require('playwright-core');
const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--force-color-profile=srgb',
];
const TIMES = ['TaskDuration', 'ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration'];

const browser = await chromium.launch({executablePath: program, args: FLAGS, env: {...process.env, HOME: data}});
const tabs = new Map();

async function open(options) {
  const context = await browser.newContext({reducedMotion: 'reduce', ...options});
  const page = await context.newPage();
  const complaints = [];
  page.on('console', said => {
    if (['error', 'warning'].includes(said.type())) complaints.push(`${said.type()}: ${said.text()}`);
  });
  page.on('pageerror', error => complaints.push(`error: ${error.message}`));
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable');
  tabs.set(tabs.size + 1, {context, page, complaints, session});
  return tabs.size;
}

const SPECIAL = {
  close: ({context}) => context.close(),
  // Not waitForFunction, which evaluates text in the page: the page's policy forbids that.
  async until({page}, expression, patience) {
    const end = Date.now() + patience;
    while (!(await page.evaluate(expression))) {
      if (Date.now() > end) throw new Error(`this was never so: ${expression}`);
      await new Promise(resolve => setTimeout(resolve, 20));
    }
  },
  complaints: ({complaints}) => complaints.splice(0),
  async axe({page}) {
    await page.evaluate(require('axe-core').source);  // no script element: the page's policy forbids it
    const {violations} = await page.evaluate('axe.run()');
    return violations.map(each => `${each.id}: ${each.nodes.map(node => node.target.join(' ')).slice(0, 3).join(', ')}`);
  },
  async seconds({session}) {
    const {metrics} = await session.send('Performance.getMetrics');
    return Object.fromEntries(metrics.filter(each => TIMES.includes(each.name)).map(each => [each.name, each.value]));
  },
};

async function answer({tab, do: what, args = []}) {
  if (what === 'open') return open(...args);
  const found = tabs.get(tab);
  if (what in SPECIAL) return SPECIAL[what](found, ...args);
  const value = await found.page[what](...args);
  return ['string', 'number', 'boolean', 'object'].includes(typeof value) && what.match(/^(evaluate|textContent|inputValue|title|url)$/) ? value : null;
}

for await (const line of createInterface({input: process.stdin})) {
  let said;
  try {
    said = {value: (await answer(JSON.parse(line))) ?? null};
  } catch (error) {
    said = {error: error.message};
  }
  process.stdout.write(`${JSON.stringify(said)}\n`);
}
await browser.close();
