import { decimal } from '../chart/random';
import { sdcDocument, type SdcDocument } from '../chart/sdc-document';
import { type Authorization } from '../http-client';
import { jsonBody } from '../json-body';
import { expectThat } from './broken-promise';
import { DEMO_CHART, DOCUMENT_ID, FIRST_ENCOUNTER_ID, USER_ID } from './demo-data';
import { type Story } from './story';
import { textTable } from './text-table';
import { listAt, shown, stringAt, valueAt } from './value-at';

const TARGET = { resourceType: 'SDCDocument', id: DOCUMENT_ID };
const USER = { resourceType: 'User', id: USER_ID };
const ADDENDUM = 'svc.sdc.addendum';

const OF_DOCUMENT = {
  id: DOCUMENT_ID,
  patientId: DEMO_CHART.patientId,
  encounterId: FIRST_ENCOUNTER_ID,
  authorId: USER_ID,
};
const SIGNED = sdcDocument({
  ...OF_DOCUMENT,
  status: 'completed',
  answers: { '8310-5': { value: decimal(37.2, 2), unit: 'Cel' }, '9279-1': { value: 16, unit: '/min' } },
});
const AMENDED = sdcDocument({
  ...OF_DOCUMENT,
  status: 'amended',
  answers: { '8310-5': { value: decimal(38.4, 2), unit: 'Cel' }, '8867-4': { value: 92, unit: '/min' } },
});

/** The expected diff: every leaf that differs. `37.20` keeps its digits. */
const EXPECTED_DIFF = [
  ['add', '8867-4 › unit', '', '/min'],
  ['add', '8867-4 › value', '', '92'],
  ['remove', '9279-1 › unit', '/min', ''],
  ['remove', '9279-1 › value', '16', ''],
  ['replace', '8310-5 › value', '37.20', '38.40'],
  ['replace', 'status', 'completed', 'amended'],
];

type Rpc = (method: string, params: object) => Promise<unknown>;

/** Corrects a signed document: snapshots, the difference between them, a note and a comment. */
export async function tellAddenda(story: Story, authorization: Authorization): Promise<void> {
  const rpc: Rpc = async (method, params) => {
    const body = jsonBody({ method: `${ADDENDUM}/${method}`, params });
    const answer = await story.call({ method: 'POST', path: '/rpc', authorization, body }, 200);
    return valueAt(answer.json, 'result');
  };
  const store = async (document: SdcDocument): Promise<void> => {
    const path = `/SDCDocument/${DOCUMENT_ID}`;
    await story.call({ method: 'PUT', path, authorization, body: jsonBody(document) }, 200, 201);
  };

  story.step('A signed document, and its snapshot');
  await store(SIGNED);
  tellHistory(story, await rpc('add-to-history', { resource: SIGNED, user: USER }));

  story.step('The document is amended: a value corrected, one withdrawn, one added');
  await store(AMENDED);
  const history = await rpc('add-to-history', { resource: AMENDED, user: USER });
  tellHistory(story, history);
  expectThat(valueAt(history, 'changed') === true, 'the amended document has changed');

  await tellAmendment(story, rpc);
  await tellRemarks(story, rpc);
  story.step('A link that opens the record in a browser, once and within a minute');
  const path = `/fhir/SDCDocument/${DOCUMENT_ID}/$amendments-link`;
  const { json } = await story.call({ method: 'POST', path, authorization }, 200);
  story.tell(stringAt(json, 'parameter', 0, 'valueUrl'));
}

function tellHistory(story: Story, history: unknown): void {
  const hasSnapshot = valueAt(history, 'snapshot') !== undefined;
  const changed = valueAt(history, 'changed') === true;
  story.tell(`History ${stringAt(history, 'id')}: changed ${changed}, ${hasSnapshot ? 'with a' : 'no'} snapshot`);
  expectThat(valueAt(history, 'type') === `${ADDENDUM}/History`, 'the addendum is a History');
  expectThat(hasSnapshot === changed, 'a snapshot is stored exactly when the document has changed');
}

async function tellAmendment(story: Story, rpc: Rpc): Promise<void> {
  story.step('What changed between the two snapshots?');
  const amendment = await rpc('create-amendment', { target: TARGET, user: USER });
  const rows = listAt(amendment, 'diff')
    .map((change) => [
      stringAt(change, 'type'),
      listAt(change, 'path').map(shown).join(' › '),
      shown(valueAt(change, 'old')),
      shown(valueAt(change, 'new')),
    ])
    .sort((one, other) => (one.join() < other.join() ? -1 : 1));
  story.tell(textTable(['change', 'where', 'old', 'new'], rows));
  expectThat(JSON.stringify(rows) === JSON.stringify(EXPECTED_DIFF), 'the differences are those that were made');
}

async function tellRemarks(story: Story, rpc: Rpc): Promise<void> {
  story.step('A note, which is part of the record');
  const note = await rpc('add-note', {
    target: TARGET,
    user: USER,
    text: 'Temperature read again with a second device.',
  });
  story.tell(`Note ${stringAt(note, 'id')} of ${stringAt(note, 'date')}`);

  story.step('A comment on one value, which is only talk');
  const comment = await rpc('add-comment', {
    target: TARGET,
    user: USER,
    text: 'Was the first one taken after the walk?',
    path: ['8310-5', 'value'],
  });
  story.tell(`Comment ${stringAt(comment, 'id')} on ${listAt(comment, 'path').map(shown).join(' › ')}`);

  story.step('All addenda of the document, oldest first');
  const addenda = listAt(await rpc('get-addendums', { target: TARGET }));
  const kinds = addenda.map((addendum) => stringAt(addendum, 'type').slice(ADDENDUM.length + 1));
  const rows = addenda.slice(-5).map((addendum, index) => {
    return [
      kinds.slice(-5)[index] ?? '',
      stringAt(addendum, 'date'),
      shown(valueAt(addendum, 'text') ?? valueAt(addendum, 'status')),
    ];
  });
  story.tell(`${addenda.length} in all; the last five are of this run:`);
  story.tell(textTable(['kind', 'date', 'text or status'], rows));
  const expected = ['History', 'History', 'Amendment', 'Note', 'Comment'];
  expectThat(kinds.slice(-5).join() === expected.join(), `the last five are ${expected.join(', ')}`);
}
