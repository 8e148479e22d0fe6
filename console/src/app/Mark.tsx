import { type ReactElement } from 'react';

export const Mark = (): ReactElement => (
  <svg className="mark" viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
    <rect width="32" height="32" rx="8" />
    <path d="M5 17h5l3-8 5 15 3-7h6" fill="none" strokeWidth="2.6" strokeLinecap="round" strokeLinejoin="round" />
  </svg>
);
