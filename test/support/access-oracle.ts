import { type Random } from '../../tools/chart/random';

/** A resource as the oracle sees it: tokens and references, by the code of the search parameter that finds them. */
export interface Fact {
  readonly type: TypeName;
  readonly id: string;
  readonly tokens: Readonly<Record<string, string>>;
  /** References such as `Patient/p1`. */
  readonly links: Readonly<Record<string, string>>;
}

interface Described {
  readonly tokens: Readonly<Record<string, readonly string[]>>;
  /** The type to which a reference leads, by search parameter. */
  readonly links: Readonly<Record<string, TypeName>>;
  readonly bodyOf: (fact: Fact) => object;
}

export type TypeName = 'Organization' | 'Patient' | 'Encounter' | 'Observation' | 'List';

const to = (reference: string | undefined): object | undefined => (reference === undefined ? undefined : { reference });

const TYPES: Readonly<Record<TypeName, Described>> = {
  Organization: {
    tokens: { active: ['true', 'false'] },
    links: { partof: 'Organization' },
    bodyOf: ({ tokens, links }) => ({ active: tokens.active === 'true', partOf: to(links.partof) }),
  },
  Patient: {
    tokens: { gender: ['male', 'female', 'other'] },
    links: { organization: 'Organization' },
    bodyOf: ({ tokens, links }) => ({ gender: tokens.gender, managingOrganization: to(links.organization) }),
  },
  Encounter: {
    tokens: { status: ['planned', 'finished'] },
    links: { patient: 'Patient', 'part-of': 'Encounter' },
    bodyOf: ({ tokens, links }) => ({
      status: tokens.status,
      class: { code: 'AMB' },
      subject: to(links.patient),
      partOf: to(links['part-of']),
    }),
  },
  Observation: {
    tokens: { status: ['final', 'amended'], code: ['c1', 'c2', 'c3'] },
    links: { patient: 'Patient', encounter: 'Encounter', 'has-member': 'Observation' },
    bodyOf: ({ tokens, links }) => ({
      status: tokens.status,
      code: { coding: [{ system: 'http://codes.example', code: tokens.code }] },
      subject: to(links.patient),
      encounter: to(links.encounter),
      hasMember: links['has-member'] && [to(links['has-member'])],
    }),
  },
  List: {
    tokens: { status: ['current', 'retired'] },
    links: { patient: 'Patient', item: 'Observation' },
    bodyOf: ({ tokens, links }) => ({
      status: tokens.status,
      mode: 'working',
      subject: to(links.patient),
      entry: links.item && [{ item: to(links.item) }],
    }),
  },
};

export const TYPE_NAMES = Object.keys(TYPES) as readonly TypeName[];

/** Parameters by which a search of the type can be sorted. */
export const sortsOf = (type: TypeName): string[] => [
  ...['_id', '_lastUpdated'],
  ...Object.keys(TYPES[type].tokens),
  ...Object.keys(TYPES[type].links),
];

/** All references of the oracle's types: source, search parameter and target. */
export const LINKS = TYPE_NAMES.flatMap((source) =>
  Object.entries(TYPES[source].links).map(([code, target]) => ({ source, code, target })),
);

type Condition =
  | { readonly kind: 'token'; readonly code: string; readonly value: string; readonly isNot: boolean }
  | { readonly kind: 'link'; readonly code: string; readonly target: string }
  | { readonly kind: 'missing'; readonly code: string; readonly isMissing: boolean }
  | { readonly kind: 'chain'; readonly code: string; readonly target: TypeName; readonly of: Condition }
  | { readonly kind: 'has'; readonly source: TypeName; readonly code: string; readonly of: Condition };

/** Conditions that all have to hold. */
export type Search = readonly Condition[];

/** The resources of a type that a caller may use: none, all, or those that one of some searches finds. */
export type Right = 'none' | 'all' | readonly Search[];
export type Rights = Readonly<Record<TypeName, Right>>;

/** Whether a caller sees the resource with this name, such as `Patient/p1`. */
type Sees = (name: string) => boolean;

export const nameOf = ({ type, id }: { readonly type: string; readonly id: string }): string => `${type}/${id}`;
export const typeIn = (name: string): TypeName => name.slice(0, name.indexOf('/')) as TypeName;

export const textOf = (search: Search): string => search.map(conditionText).join('&');

function conditionText(condition: Condition): string {
  switch (condition.kind) {
    case 'token':
      return `${condition.code}${condition.isNot ? ':not' : ''}=${condition.value}`;
    case 'link':
      return `${condition.code}=${condition.target}`;
    case 'missing':
      return `${condition.code}:missing=${condition.isMissing}`;
    case 'chain':
      return `${condition.code}:${condition.target}.${conditionText(condition.of)}`;
    case 'has':
      return `_has:${condition.source}:${condition.code}:${conditionText(condition.of)}`;
  }
}

/** The types to which the links of a search lead. */
export const reachedBy = (search: Search): TypeName[] =>
  search.flatMap((condition) => {
    if (condition.kind === 'chain') return [condition.target, ...reachedBy([condition.of])];
    return condition.kind === 'has' ? [condition.source, ...reachedBy([condition.of])] : [];
  });

/**
 * Computes by brute force what callers may see. It shares no code with the server. Criteria of policies are evaluated
 * on all resources, and searches of a caller on those that the caller sees.
 */
export class AccessOracle {
  readonly facts = new Map<string, Fact>();

  constructor(private readonly random: Random) {}

  /** The body of a resource, with a mark that differs in each version. */
  bodyOf(fact: Fact, mark: number): object {
    const { type, id } = fact;
    return { resourceType: type, id, identifier: [{ value: String(mark) }], ...TYPES[type].bodyOf(fact) };
  }

  /** Draws some resources of each type. */
  populate(count: number): void {
    for (const type of TYPE_NAMES)
      for (let number = 0; number < count; number++) this.store(this.drawFact(type, `${type.toLowerCase()}-${number}`));
  }

  store(fact: Fact): void {
    this.facts.set(nameOf(fact), fact);
  }

  drawFact(type: TypeName, id: string): Fact {
    const { tokens, links } = TYPES[type];
    const targets = Object.entries(links).flatMap(([code, target]): [string, string][] => {
      const names = this.namesOf(target);
      return names.length > 0 && this.random.chance(0.8) ? [[code, this.random.pick(names)]] : [];
    });
    return {
      ...{ type, id },
      tokens: Object.fromEntries(Object.entries(tokens).map(([code, values]) => [code, this.random.pick(values)])),
      links: Object.fromEntries(targets),
    };
  }

  /** @param hasNone whether some types may have no right at all, as with a policy for each type */
  drawRights(hasNone: boolean): Rights {
    const drawn = TYPE_NAMES.map((type): [TypeName, Right] => {
      const searches = [this.drawSearch(type), this.drawSearch(type)].slice(0, this.random.integer(1, 2));
      if (!hasNone) return [type, this.random.chance(0.1) ? [] : searches];
      return [type, this.random.chance(0.2) ? 'none' : this.random.chance(0.25) ? 'all' : searches];
    });
    return Object.fromEntries(drawn) as Record<TypeName, Right>;
  }

  /** Draws a search whose parameters all differ, since R4 gives some repeated parameters another meaning. */
  drawSearch(type: TypeName): Search {
    const first = this.drawCondition(type, 2);
    const second = this.drawCondition(type, 2);
    const isNew = conditionText(first).split('=')[0] !== conditionText(second).split('=')[0];
    return isNew && this.random.chance(0.4) ? [first, second] : [first];
  }

  namesOf(type: TypeName): string[] {
    return [...this.facts.keys()].filter((name) => typeIn(name) === type);
  }

  /** Whether the rights include the resource as it is now. */
  isGranted(rights: Rights, name: string): boolean {
    const right = rights[typeIn(name)];
    const fact = this.facts.get(name);
    if (fact === undefined || right === 'none') return false;
    return right === 'all' || right.some((search) => this.matches(search, fact, () => true));
  }

  find(type: TypeName, search: Search, rights: Rights): string[] {
    const sees = this.seenBy(rights);
    return this.namesOf(type).filter((name) => {
      const fact = this.facts.get(name);
      return fact !== undefined && sees(name) && this.matches(search, fact, sees);
    });
  }

  /** Names of a patient and of the visible resources in the compartment of this patient. */
  compartmentOf(patient: string, rights: Rights): string[] {
    const sees = this.seenBy(rights);
    const linked = [...this.facts.values()].filter(({ links }) => links.patient === patient).map(nameOf);
    return [patient, ...linked].filter(sees);
  }

  /** Names of the visible resources to which these refer, and that refer to these. */
  neighborsOf(names: readonly string[], rights: Rights): string[] {
    const sees = this.seenBy(rights);
    const targets = names.flatMap((name) => Object.values(this.facts.get(name)?.links ?? {}));
    const sources = [...this.facts.values()].filter(({ links }) =>
      Object.values(links).some((target) => names.includes(target)),
    );
    const found = new Set([...targets, ...sources.map(nameOf)]);
    return [...found].filter((name) => sees(name) && !names.includes(name));
  }

  private seenBy(rights: Rights): Sees {
    const known = new Map<string, boolean>();
    return (name) => {
      const isSeen = known.get(name) ?? this.isGranted(rights, name);
      known.set(name, isSeen);
      return isSeen;
    };
  }

  private matches(search: Search, fact: Fact, sees: Sees): boolean {
    return search.every((condition) => this.holds(condition, fact, sees));
  }

  private holds(condition: Condition, fact: Fact, sees: Sees): boolean {
    const { code } = condition;
    switch (condition.kind) {
      case 'token':
        return (fact.tokens[code] === condition.value) !== condition.isNot;
      case 'link':
        return fact.links[code] === condition.target;
      case 'missing':
        return (fact.links[code] === undefined) === condition.isMissing;
      case 'chain': {
        const name = fact.links[code] ?? '';
        const target = this.facts.get(name);
        return target !== undefined && sees(name) && this.holds(condition.of, target, sees);
      }
      case 'has':
        return [...this.facts.values()].some(
          (source) =>
            source.type === condition.source &&
            source.links[code] === nameOf(fact) &&
            sees(nameOf(source)) &&
            this.holds(condition.of, source, sees),
        );
    }
  }

  private drawCondition(type: TypeName, depth: number): Condition {
    const { random } = this;
    const { tokens, links } = TYPES[type];
    const [code, target] = random.pick(Object.entries(links));
    const kinds = ['token', 'link', 'missing', 'chain', 'has'] as const;
    switch (depth === 0 ? random.pick(kinds.slice(0, 3)) : random.pick(kinds)) {
      case 'token': {
        const [token, values] = random.pick(Object.entries(tokens));
        return { kind: 'token', code: token, value: random.pick(values), isNot: random.chance(0.3) };
      }
      case 'link':
        return { kind: 'link', code, target: random.pick(this.namesOf(target)) };
      case 'missing':
        return { kind: 'missing', code, isMissing: random.chance(0.4) };
      case 'chain':
        return { kind: 'chain', code, target, of: this.drawCondition(target, depth - 1) };
      case 'has': {
        const sources = LINKS.filter((link) => link.target === type);
        if (sources.length === 0) return this.drawCondition(type, 0);
        const { source, code: back } = random.pick(sources);
        return { kind: 'has', source, code: back, of: this.drawCondition(source, depth - 1) };
      }
    }
  }
}
