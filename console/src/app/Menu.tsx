import { type ReactElement, useEffect, useRef, useState } from 'react';
import { useSession } from './session';
import { applyTheme, storedTheme, type Theme, THEMES } from './theme';

const NAMES: Readonly<Record<Theme, string>> = { system: 'As the device', light: 'Light', dark: 'Dark' };

/** The menu: the signed-in User, and actions of the whole console. */
export function Menu({ onHelp }: { readonly onHelp: () => void }): ReactElement {
  const { userName, signOut } = useSession();
  const [theme, setTheme] = useState(storedTheme);
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event): void => {
      const { current } = details;
      if (current === null || !current.open) return;
      if (event instanceof KeyboardEvent) {
        if (event.key !== 'Escape') return;
        current.querySelector('summary')?.focus();
      } else if (event.target instanceof Node && current.contains(event.target)) return;
      current.open = false;
    };
    window.addEventListener('pointerdown', close);
    window.addEventListener('keydown', close);
    return () => {
      window.removeEventListener('pointerdown', close);
      window.removeEventListener('keydown', close);
    };
  }, []);
  return (
    <div className="menu">
      <details ref={details}>
        <summary>
          <span className="avatar" aria-hidden="true">
            {userName.slice(0, 1).toUpperCase()}
          </span>
          <span className="menu-name">{userName}</span>
        </summary>
        <div className="menu-body">
          <p className="menu-user">{userName}</p>
          <label>
            Theme
            <select
              value={theme}
              onChange={({ target }) => {
                const next = THEMES.find((one) => one === target.value) ?? 'system';
                setTheme(next);
                applyTheme(next);
              }}
            >
              {THEMES.map((one) => (
                <option key={one} value={one}>
                  {NAMES[one]}
                </option>
              ))}
            </select>
          </label>
          <button
            type="button"
            className="button quiet"
            onClick={() => {
              if (details.current !== null) details.current.open = false;
              onHelp();
            }}
          >
            Keyboard <kbd>?</kbd>
          </button>
          <button type="button" className="button quiet" onClick={() => void signOut()}>
            Sign out
          </button>
        </div>
      </details>
    </div>
  );
}
