import { remembered, remember } from './preferences';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const storedTheme = (): Theme => THEMES.find((theme) => theme === remembered('theme')) ?? 'system';

/** Shows the page in a theme; `system` follows the device. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  remember('theme', theme === 'system' ? undefined : theme);
}
