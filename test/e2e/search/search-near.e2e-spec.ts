import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { greatCircleMeters } from '../../../src/search/query/great-circle';
import { type Bundle, followPages, type SearchEntry, storeTogether } from '../../support/bundle';
import { startTestApp, type TestApp } from '../../../testing/test-app';

interface NearEntry extends SearchEntry {
  readonly search: {
    readonly mode: string;
    readonly extension?: readonly { readonly url: string; readonly valueDistance: { readonly value: number } }[];
  };
}

/** Positions of cities, and of places near the poles and the date line. */
const PLACES: Readonly<Record<string, readonly [latitude: number, longitude: number]>> = {
  vienna: [48.2082, 16.3738],
  bratislava: [48.1486, 17.1077],
  graz: [47.0707, 15.4395],
  london: [51.5074, -0.1278],
  suva: [-18.1416, 178.4419],
  'fiji-east': [-18.1, -179.9],
  'fiji-west': [-18.1, 179.9],
  'pole-here': [89.9, 10],
  'pole-there': [89.9, -170],
  pole: [90, 0],
  'south-pole': [-90, 77],
  origin: [0, 0],
  antipode: [0, 180],
};

describe('Location?near', () => {
  let app: TestApp;
  const positions = new Map(Object.entries(PLACES));

  beforeAll(async () => {
    app = await startTestApp();
    // A grid of more positions, so that a band of latitudes contains many that are not near.
    for (let step = 0; step < 120; step++) positions.set(`grid-${step}`, [(step % 10) * 12 - 54, step * 3 - 180]);
    const entry = [...positions].map(([id, [latitude, longitude]]) => ({
      request: { method: 'PUT', url: `Location/${id}` },
      resource: { resourceType: 'Location', id, status: 'active', name: id, position: { latitude, longitude } },
    }));
    await storeTogether(app, entry);
    await app.put('/fhir/Location/nowhere', { resourceType: 'Location', name: 'nowhere' });
    await app.put('/fhir/Encounter/e1', {
      resourceType: 'Encounter',
      status: 'finished',
      class: { code: 'AMB' },
      location: [{ location: { reference: 'Location/graz' } }],
    });
  }, 60_000);
  afterAll(() => app.close());

  const path = (query: string): string =>
    `/fhir/${query.replaceAll('|', '%7C').replaceAll('[', '%5B').replaceAll(']', '%5D')}`;
  const pagesOf = (query: string): Promise<Bundle<NearEntry>[]> => followPages<NearEntry>(app, path(query));
  const idsOf = async (query: string): Promise<string[]> =>
    (await pagesOf(query)).flatMap(({ entry }) => entry.map(({ resource }) => resource.id));

  /** Brute force over the stored positions. */
  const within = (latitude: number, longitude: number, meters: number): string[] =>
    [...positions]
      .filter(
        ([, [lat, lon]]) => greatCircleMeters({ latitude, longitude }, { latitude: lat, longitude: lon }) <= meters,
      )
      .map(([id]) => id)
      .sort();

  it.each([
    [48.2, 16.4, 100],
    [48.2, 16.4, 1_000],
    [-18.1, 180, 200],
    [-18.1, -180, 200],
    [90, 123, 20],
    [-90, 0, 1],
    [89.95, 0, 3_000],
    [0, 0, 20_100],
    [0, 180, 0],
    [12, 12, 5_000],
  ])('finds locations around %d|%d within %d km, as brute force does', async (latitude, longitude, kilometers) => {
    const found = within(latitude, longitude, kilometers * 1000);
    expect(found.length).toBeGreaterThan(0);
    const near = `near=${latitude}|${longitude}|${kilometers}|km`;
    expect((await idsOf(`Location?${near}&_count=7`)).sort()).toEqual(found);
    expect((await pagesOf(`Location?${near}&_count=0`))[0]?.total).toBe(found.length);
    expect((await idsOf(`Location?${near}&_sort=name&_count=9`)).sort()).toEqual(found);
  });

  it('works across the date line and around the pole', async () => {
    expect((await idsOf('Location?near=-18.1|179.95|30')).sort()).toEqual(['fiji-east', 'fiji-west']);
    expect((await idsOf('Location?near=90|0|12|km')).sort()).toEqual(['pole', 'pole-here', 'pole-there']);
  });

  it.each([
    ['60', ['bratislava', 'vienna']],
    ['60|km', ['bratislava', 'vienna']],
    ['60000|m', ['bratislava', 'vienna']],
    ['37|mi', ['bratislava', 'vienna']],
    ['37|[mi_i]', ['bratislava', 'vienna']],
    ['20|mi', ['vienna']],
    ['0.1', ['vienna']],
  ])('accepts the distance %s', async (distance, ids) => {
    expect((await idsOf(`Location?near=48.2082|16.3738|${distance}`)).sort()).toEqual(ids);
  });

  it('uses 50 km if no distance is given', async () => {
    expect(await idsOf('Location?near=48.2082|16.3738')).toEqual(['vienna']);
    expect(await idsOf('Location?near=48.2082|16.3738||mi')).toEqual(['vienna']);
  });

  it('treats several positions as alternatives, and a repeated parameter as another condition', async () => {
    expect((await idsOf('Location?near=48.2082|16.3738|1,51.5074|-0.1278|1')).sort()).toEqual(['london', 'vienna']);
    expect(await idsOf('Location?near=48.2082|16.3738|70&near=48.1486|17.1077|1')).toEqual(['bratislava']);
  });

  it('returns the distance to the nearest position', async () => {
    const [page] = await pagesOf('Location?near=48.2082|16.3738|60&_sort=near');
    expect(page?.entry.map(({ resource, search }) => [resource.id, search.extension])).toEqual(
      [
        ['vienna', 0],
        ['bratislava', 54.818],
      ].map(([id, value]) => [
        id,
        [
          {
            url: 'http://hl7.org/fhir/StructureDefinition/location-distance',
            valueDistance: { value, unit: 'km', system: 'http://unitsofmeasure.org', code: 'km' },
          },
        ],
      ]),
    );
  });

  it.each(['near', '-near'])('sorts by distance with _sort=%s, page by page', async (sort) => {
    const pages = await pagesOf(`Location?near=48.2|16.4|9000&_sort=${sort}&_count=6`);
    const distances = pages.flatMap(({ entry }) =>
      entry.map(({ search }) => search.extension?.[0]?.valueDistance.value ?? NaN),
    );
    expect(pages.length).toBeGreaterThan(3);
    expect(distances).toEqual([...distances].sort((a, b) => (sort === 'near' ? a - b : b - a)));
  });

  it('works in chains, in _has and with :missing', async () => {
    expect(await idsOf('Encounter?location.near=47|15.4|20')).toEqual(['e1']);
    expect(await idsOf('Encounter?location.near=48|16.4|20')).toEqual([]);
    expect(await idsOf('Location?near:missing=true')).toEqual(['nowhere']);
    expect((await idsOf('Location?near:missing=false')).length).toBe(positions.size);
  });

  it('follows a Location that moves', async () => {
    const moved = { resourceType: 'Location', id: 'mobile', position: { latitude: 10.5, longitude: 10.5 } };
    await app.put('/fhir/Location/mobile', moved);
    expect(await idsOf('Location?near=10.5|10.5|1')).toEqual(['mobile']);
    await app.put('/fhir/Location/mobile', { ...moved, position: { latitude: 10.5, longitude: -10.5 } });
    expect(await idsOf('Location?near=10.5|10.5|1')).toEqual([]);
    expect(await idsOf('Location?near=10.5|-10.5|1')).toEqual(['mobile']);
    await app.delete('/fhir/Location/mobile');
    expect(await idsOf('Location?near=10.5|-10.5|1')).toEqual([]);
  });

  it.each([
    ['near=1', 'longitude'],
    ['near=|', 'latitude'],
    ['near=91|0', 'latitude'],
    ['near=0|181', 'longitude'],
    ['near=a|b', 'latitude'],
    ['near=0|0|-1', 'distance'],
    ['near=0|0|NaN', 'distance'],
    ['near=0|0|1|kg', 'units'],
    ['near=0|0|1|parsec-ish', 'units'],
    ['near=0|0|1|km|more', 'latitude|longitude|distance|units'],
    ['near:exact=0|0', ':missing'],
    ['_sort=near', 'near'],
  ])('refuses %s with 400 and the reason', async (query, said) => {
    const answer = await app.get(path(`Location?${query}`));
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(said)]);
    expect(answer.text).toContain('near');
  });
});
