import { useEffect } from 'react';
import { PAGES } from './pages';
import { goTo, hashOf } from './routes';

/** Maximum time between the two keys of `g d`. */
const PAIR_MILLISECONDS = 1500;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** The field that gets the focus on `/`: the one with `data-search` on the page, else the first search field. */
const searchField = (): HTMLElement | null =>
  document.querySelector<HTMLElement>('main [data-search]') ??
  document.querySelector<HTMLElement>('main input[type=search]');

/** Makes single keys navigate, except while somebody types or a dialog is open. */
export function useShortcuts(isOn: boolean, onHelp: () => void): void {
  useEffect(() => {
    if (!isOn) return;
    let goneAt = 0;
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return;
      const isSecond = event.timeStamp - goneAt < PAIR_MILLISECONDS;
      goneAt = 0;
      const page = isSecond ? PAGES.find(({ shortcut }) => shortcut === event.key) : undefined;
      if (page !== undefined) goTo(hashOf(page.path));
      else if (event.key === 'g') goneAt = event.timeStamp;
      else if (event.key === '?') onHelp();
      else if (event.key === '/') searchField()?.focus();
      else return;
      event.preventDefault();
    };
    window.addEventListener('keydown', press);
    return () => {
      window.removeEventListener('keydown', press);
    };
  }, [isOn, onHelp]);
}
