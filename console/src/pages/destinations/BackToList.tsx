import { type ReactElement } from 'react';
import { hashOf } from '../../app/routes';

export const BackToList = (): ReactElement => (
  <a className="button" href={hashOf('destinations')}>
    ← All webhooks
  </a>
);
