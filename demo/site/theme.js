// Applies the color theme chosen in the playground; default: the system's theme. Adds a switch for it, and buttons that copy code.
const root = document.documentElement;
try {
  const theme = JSON.parse(localStorage.getItem('pinnace.theme'));
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
} catch {
  // The browser stores nothing for this site.
}

function makeButton(text, onClick) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet-button';
  button.textContent = text;
  button.addEventListener('click', () => onClick(button));
  return button;
}

function isDark() {
  const { theme } = root.dataset;
  return theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

function name(button) {
  button.textContent = 'Theme';
  button.ariaLabel = isDark() ? 'Light theme' : 'Dark theme';
  button.title = button.ariaLabel;
}

function switchTheme(button) {
  root.dataset.theme = isDark() ? 'light' : 'dark';
  name(button);
  try {
    localStorage.setItem('pinnace.theme', JSON.stringify(root.dataset.theme));
  } catch {
    // It holds for this page.
  }
}

addEventListener('DOMContentLoaded', () => {
  const theme = makeButton('', switchTheme);
  name(theme);
  document.querySelector('.site-head .button')?.before(theme);
  for (const head of document.querySelectorAll('.code-head')) {
    const copy = makeButton('Copy', () => {
      void navigator.clipboard.writeText(head.parentElement.querySelector('code').textContent).then(
        () => (copy.textContent = 'Copied'),
        () => (copy.textContent = 'Could not copy'),
      );
    });
    head.append(copy);
  }
});
