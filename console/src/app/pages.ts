import { type ComponentType, lazy } from 'react';
import { type Route } from './routes';

export interface PageProps {
  readonly route: Route;
}

export interface Page {
  /** The first segment of the page's address: `destinations` in `#/destinations/hook`. */
  readonly path: string;
  readonly name: string;
  /** A short name for narrow screens. */
  readonly short: string;
  /** The key that opens the page after `g`. */
  readonly shortcut: string;
  /** The SVG path of the icon, in a box of 24 by 24. */
  readonly icon: string;
  readonly component: ComponentType<PageProps>;
}

/** All pages in the order of the navigation, each loaded on demand. */
export const PAGES: readonly Page[] = [
  {
    path: 'overview',
    name: 'Overview',
    short: 'Overview',
    shortcut: 'o',
    icon: 'M3 12h4l3-8 4 16 3-8h4',
    component: lazy(() => import('../pages/overview/OverviewPage')),
  },
  {
    path: 'destinations',
    name: 'Webhooks',
    short: 'Webhooks',
    shortcut: 'w',
    icon: 'M4 12h11m-4-5 5 5-5 5M20 4v16',
    component: lazy(() => import('../pages/destinations/DestinationsPage')),
  },
  {
    path: 'patients',
    name: 'Patients',
    short: 'Patients',
    shortcut: 'p',
    icon: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4 21c.6-4 3.700-6 8-6s7.400 2 8 6',
    component: lazy(() => import('../pages/patients/PatientsPage')),
  },
  {
    path: 'documents',
    name: 'Signed documents',
    short: 'Signed',
    shortcut: 's',
    icon: 'M6 3h8l4 4v14H6zM14 3v4h4M9 14l2 2 4-4',
    component: lazy(() => import('../pages/documents/DocumentsPage')),
  },
  {
    path: 'access',
    name: 'Access',
    short: 'Access',
    shortcut: 'a',
    icon: 'M12 3l8 3v6c0 4.500-3.200 7.600-8 9-4.800-1.400-8-4.500-8-9V6zM12 10v4',
    component: lazy(() => import('../pages/access/AccessPage')),
  },
  {
    path: 'search',
    name: 'Search lab',
    short: 'Search',
    shortcut: 'l',
    icon: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM16 16l5 5',
    component: lazy(() => import('../pages/search/SearchPage')),
  },
];

export const pageAt = (path: string): Page | undefined => PAGES.find((page) => page.path === path);
