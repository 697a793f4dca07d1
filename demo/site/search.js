// Searches the guides: adds a field to the head of the page. The texts and the index are loaded when it is first used.
const up = new URL('./', import.meta.url);
let index;

async function load() {
  const [{ default: MiniSearch }, { default: texts }] = await Promise.all([
    import('./minisearch.js'),
    import('./texts.js'),
  ]);
  const made = new MiniSearch({
    fields: ['title', 'text'],
    storeFields: ['href', 'title', 'text'],
    searchOptions: {
      combineWith: 'AND',
      boost: { title: 3 },
      prefix: true,
      fuzzy: (term) => term.length > 3 ? 0.25 : 0,
    },
  });
  made.addAll(texts.flatMap(([page, sections]) =>
    sections.map(([id, title, text], i) => ({
      id: `${page}#${id}`,
      href: new URL(i === 0 ? `${page}.html` : `${page}.html#${id}`, up).href,
      title: i === 0 ? title : `${sections[0][1]} › ${title}`,
      text,
    }))
  ));
  return made;
}

function withMarks(text, terms) {
  const pattern = new RegExp(`(${terms.map((term) => term.replaceAll(/[^\p{L}\p{N}]/gu, '.')).join('|')})`, 'iu');
  const at = Math.max(0, text.search(pattern) - 40);
  const line = document.createElement('small');
  const pieces = `${at > 0 ? '…' : ''}${text.slice(at, at + 140)}${at + 140 < text.length ? '…' : ''}`.split(pattern);
  line.append(...pieces.map((piece, i) => {
    if (i % 2 === 0) return piece;
    const mark = document.createElement('mark');
    mark.textContent = piece;
    return mark;
  }));
  return line;
}

const field = Object.assign(document.createElement('input'), {
  type: 'search',
  placeholder: 'Search',
  ariaLabel: 'Search the guides',
});
const list = Object.assign(document.createElement('ul'), { className: 'site-found', ariaLabel: 'Found', hidden: true });

async function show() {
  const query = field.value.trim();
  const made = await (index ??= load());
  if (field.value.trim() !== query) return;
  const hits = query === '' ? [] : made.search(query).slice(0, 8);
  list.replaceChildren(...hits.map(({ href, title, text, terms }) => {
    const item = document.createElement('li');
    const link = Object.assign(document.createElement('a'), { href, textContent: title });
    link.append(withMarks(text, terms));
    item.append(link);
    return item;
  }));
  if (query !== '' && hits.length === 0) {
    list.append(Object.assign(document.createElement('li'), { textContent: 'No results' }));
  }
  list.hidden = query === '';
}

field.addEventListener('input', () => void show());
const box = Object.assign(document.createElement('search'), { className: 'site-search' });
box.append(field, list);
box.addEventListener('keydown', (event) => {
  const stops = [field, ...list.querySelectorAll('a')];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === 'Escape') field.value = '';
  if (event.key === 'Escape') list.hidden = true;
  if (event.key === 'Enter' && event.target === field) list.querySelector('a')?.click();
  if (step === undefined) return;
  event.preventDefault();
  stops[(stops.indexOf(event.target) + step + stops.length) % stops.length].focus();
});
document.querySelector('.site-jump')?.before(box);
