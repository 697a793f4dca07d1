// The colours that were chosen in the playground; without a choice, as the system has them.
try {
  const theme = JSON.parse(localStorage.getItem('pinnace.theme'));
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // The browser keeps nothing for this site.
}
