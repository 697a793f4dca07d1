// Applies the color theme chosen in the playground; default: the system's theme.
try {
  const theme = JSON.parse(localStorage.getItem('pinnace.theme'));
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // The browser stores nothing for this site.
}
