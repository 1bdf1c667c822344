// Server-sent events by fetch: EventSource cannot send a header, and the token belongs in one.

const FIRST_PAUSE = 300;
const LONGEST_PAUSE = 5000;
const SILENCE = 45_000;  // the server says something every 15 seconds

// Reads events until the page is left. `onEvent` is given a name and a document, `onState` 'live',
// 'away' or 'refused'; after 'refused' it ends, and somebody must give another token.
export async function follow(address, token, onEvent, onState) {
  let last = '';
  let pause = FIRST_PAUSE;
  for (;;) {
    const ending = new AbortController();
    try {
      const headers = {Authorization: `Bearer ${token}`};
      if (last) headers['Last-Event-ID'] = last;
      const answer = await fetch(address, {headers, signal: ending.signal, cache: 'no-store'});
      if (answer.status === 401) return onState('refused');
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      for await (const event of events(answer.body, ending)) {
        last = event.id || last;
        pause = FIRST_PAUSE;
        heard(onEvent, event);
        onState('live');
      }
    } catch (error) {
      if (!(error instanceof TypeError || error.name === 'AbortError')) console.warn(error);
    }
    ending.abort();
    onState('away');
    await wokenOrAfter(pause * (0.5 + Math.random() / 2));
    pause = Math.min(2 * pause, LONGEST_PAUSE);
  }
}

// An error of the page itself is no reason to connect again, and must not be lost in that.
function heard(onEvent, event) {
  try {
    onEvent(event.name, JSON.parse(event.data));
  } catch (error) {
    reportError(error);
  }
}

async function* events(body, ending) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const silent = setTimeout(() => ending.abort(), SILENCE);
    const {done, value} = await reader.read().finally(() => clearTimeout(silent));
    if (done) return;
    // Only what is new can hold the end: a document of megabytes comes in many pieces.
    const from = Math.max(0, text.length - 1);
    text += value;
    let end = text.indexOf('\n\n', from);
    while (end >= 0) {
      const event = parse(text.slice(0, end));
      text = text.slice(end + 2);
      if (event.data) yield event;
      end = text.indexOf('\n\n');
    }
  }
}

function parse(lines) {
  const event = {name: 'message', id: '', data: ''};
  for (const line of lines.split('\n')) {
    const [, field, value] = /^(\w*): ?(.*)$/s.exec(line) ?? [];
    if (field === 'event') event.name = value;
    else if (field === 'id') event.id = value;
    else if (field === 'data') event.data += value;
  }
  return event;
}

function wokenOrAfter(milliseconds) {
  return new Promise(resolve => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      document.removeEventListener('visibilitychange', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    addEventListener('online', done);
    document.addEventListener('visibilitychange', done);
  });
}
