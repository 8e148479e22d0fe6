import { type ReactElement, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { Empty } from '../parts/Empty';
import { PageHeader } from '../parts/PageHeader';
import { Waiting } from '../parts/Waiting';
import { ErrorBoundary } from './ErrorBoundary';
import { KeyHelp } from './KeyHelp';
import { Mark } from './Mark';
import { Menu } from './Menu';
import { pageAt, PAGES } from './pages';
import { remember, remembered } from './preferences';
import { hashOf, type Route, useRoute } from './routes';
import { Unreachable } from './Unreachable';
import { useShortcuts } from './use-shortcuts';

/** The frame of all pages: navigation, the signed-in User, and the page of the current address. */
export function Shell(): ReactElement {
  const route = useRoute();
  const path = route.page === '' ? 'overview' : route.page;
  const page = pageAt(path);
  const [isHelpOpen, setIsHelpOpen] = useState(false);
  const [hasKeys, setHasKeys] = useState(() => remembered('shortcuts') !== 'off');
  const openHelp = useCallback(() => {
    setIsHelpOpen(true);
  }, []);
  useShortcuts(hasKeys, openHelp);

  const main = useRef<HTMLElement>(null);
  const shown = useRef(path);
  useEffect(() => {
    document.title = `${page?.name ?? 'Not found'} · Console`;
    // Focus moves to a new page, so that a screen reader begins there. On the first page, the focus stays where it was
    // after the sign-in.
    if (shown.current !== path) main.current?.focus({ preventScroll: true });
    shown.current = path;
  }, [path, page]);

  return (
    <div className="shell">
      <a className="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        Skip to the page
      </a>
      <header className="side">
        <div className="brand">
          <Mark />
          <span className="brand-name">Console</span>
          <span className="brand-host">{new URL(document.baseURI).host}</span>
        </div>
        <nav aria-label="Pages">
          <ul>
            {PAGES.map(({ path: to, name, short, icon }) => (
              <li key={to}>
                <a href={hashOf(to)} aria-current={to === path ? 'page' : undefined} title={name}>
                  <svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
                    <path d={icon} />
                  </svg>
                  <span className="long">{name}</span>
                  <span className="short">{short}</span>
                </a>
              </li>
            ))}
          </ul>
        </nav>
        {hasKeys && (
          <p className="key-note">
            <kbd>?</kbd> for keys
          </p>
        )}
        <Menu onHelp={openHelp} />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Unreachable />
        <ErrorBoundary key={path}>
          <Suspense fallback={<Waiting what="the page" />}>
            <Shown route={route} path={path} />
          </Suspense>
        </ErrorBoundary>
      </main>
      {isHelpOpen && (
        <KeyHelp
          isOn={hasKeys}
          onSwitch={(isOn) => {
            setHasKeys(isOn);
            remember('shortcuts', isOn ? undefined : 'off');
          }}
          onClose={() => {
            setIsHelpOpen(false);
          }}
        />
      )}
    </div>
  );
}

function Shown({ route, path }: { readonly route: Route; readonly path: string }): ReactElement {
  const Component = pageAt(path)?.component;
  if (Component !== undefined) return <Component route={route} />;
  return (
    <>
      <PageHeader title="No such page" />
      <Empty title={`There is no page “${path}”`}>
        <a href={hashOf('overview')}>Go to the overview</a>
      </Empty>
    </>
  );
}
