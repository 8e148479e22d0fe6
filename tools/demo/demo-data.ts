import { generateChart } from '../chart/chart-generator';

/** Ids of the stored resources. They are fixed, so that a second run overwrites the first. */
export const CLIENT_ID = 'demo-app';
export const USER_ID = 'demo-nurse';
export const POLICY_ID = 'demo-nurse-policy';
export const GUEST_ID = 'demo-guest';
export const DOCUMENT_ID = 'demo-vitals';
export const TOPIC_ID = 'demo-amended-observations';
export const DESTINATION_ID = 'demo-hook';
export const BROKEN_DESTINATION_ID = 'demo-broken-hook';

/** The chart of the demo: the same on every run, so that loading it again changes nothing. */
export const DEMO_CHART = generateChart({ seed: 42, idPrefix: 'demo-' });
export const FIRST_ENCOUNTER_ID = 'demo-encounter-1';
