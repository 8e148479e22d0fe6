import { type DynamicModule, type ForwardReference, type ModuleMetadata, type Type } from '@nestjs/common';
import { MODULE_METADATA } from '@nestjs/common/constants';
import 'reflect-metadata';
import { StartError } from '../../errors/start-error';
import { assertDefinition, type Members } from '../../discovery/definition';
import { type Migration, type MigrationSet, tablesMadeBy } from '../migration';

export interface MigrationsDefinition {
  /**
   * Prefix of the module's tables in lower case, such as `acme_ward`. It identifies the module in `schema_migration`.
   */
  readonly prefix: string;
  /** The migrations in order. Add new migrations at the end, and never change one that was applied. */
  readonly migrations: readonly Migration[];
}

const MIGRATIONS_OF = Symbol('migrations');

type Lists = { [Name in keyof ModuleMetadata]: ModuleMetadata[Name] | undefined };

const LISTS: Members<ModuleMetadata> = {
  'imports?': { each: 'any' },
  'providers?': { each: 'any' },
  'controllers?': { each: 'any' },
  'exports?': { each: 'any' },
};

const MEMBERS: Members<MigrationsDefinition> = {
  prefix: 'string',
  migrations: {
    each: {
      members: {
        name: 'string',
        statements: { each: 'string' },
        'isApart?': 'boolean',
      } satisfies Members<Migration>,
    },
  },
};

/**
 * Gives a Nest module its own tables. Each start of the server applies the module's migrations, after those of the
 * server and of the modules that it imports.
 * @example
 * const createStays = {
 *   name: 'CreateStays1795000000000',
 *   statements: ['create table acme_stay_night (day date primary key)'],
 * };
 *
 * &#64;BringsMigrations({ prefix: 'acme_stay', migrations: [createStays] })
 * &#64;Module({})
 * export class StayModule {}
 */
export function BringsMigrations(definition: MigrationsDefinition): ClassDecorator {
  return (target) => {
    Reflect.defineMetadata(MIGRATIONS_OF, definition, target);
  };
}

type Imported =
  Type | DynamicModule | ForwardReference<() => Type | DynamicModule> | Promise<DynamicModule> | undefined;

/**
 * Returns the migrations of `modules` and of all that they import; those of imported modules come first.
 * @throws StartError if two modules have the same prefix or table, the lists of a module are no arrays, or a provider
 * brings migrations
 */
export function migrationSetsOf(modules: readonly (Type | DynamicModule)[]): MigrationSet[] {
  const seen = new Set<unknown>();
  const brought: Brought[] = [];
  const visitLists = ({ name }: Type, lists: Lists): void => {
    assertDefinition(lists, LISTS, `@Module of ${name}`);
    const { imports = [], providers = [], controllers = [] } = lists;
    for (const one of imports) visit(one);
    for (const one of [...providers, ...controllers])
      if (typeof one === 'function' && Reflect.hasOwnMetadata(MIGRATIONS_OF, one))
        throw new StartError(`@BringsMigrations of ${one.name}: it is no module. Move the decorator to ${name}.`);
  };
  const visit = (given: Imported): void => {
    const module = typeof given === 'object' && 'forwardRef' in given ? given.forwardRef() : given;
    if (seen.has(module)) return;
    seen.add(module);
    if (typeof module === 'object' && 'module' in module) {
      // Other members are left out: modules of libraries may have more than Nest reads.
      const { imports, providers, controllers, exports } = module;
      visitLists(module.module, { imports, providers, controllers, exports });
      visit(module.module);
    }
    if (typeof module !== 'function') return;
    const lists = Object.values(MODULE_METADATA).map((name) => [name, Reflect.getMetadata(name, module) as unknown]);
    visitLists(module, Object.fromEntries(lists) as Lists);
    const definition = Reflect.getMetadata(MIGRATIONS_OF, module) as MigrationsDefinition | undefined;
    if (definition === undefined) return;
    assertDefinition(definition, MEMBERS, `@BringsMigrations of ${module.name}`);
    const set = setOf(module.name, definition);
    for (const other of brought) assertApart(other, [module.name, set]);
    brought.push([module.name, set]);
  };
  for (const module of modules) visit(module);
  return brought.map(([, set]) => set);
}

type Brought = readonly [name: string, set: MigrationSet];

/**
 * Checks that two modules have different prefixes and tables. One prefix may be the beginning of another, so two
 * modules could create the same table.
 */
function assertApart([name, set]: Brought, [otherName, other]: Brought): void {
  const both = `${name} and ${otherName} both bring`;
  if (set.module === other.module)
    throw new StartError(`${both} migrations with the prefix "${set.module}". Give each its own prefix.`);
  const tables = tablesMadeBy(other.migrations.flatMap(({ statements }) => statements));
  const table = tablesMadeBy(set.migrations.flatMap(({ statements }) => statements)).find((own) =>
    tables.includes(own),
  );
  if (table !== undefined) throw new StartError(`${both} the table "${table}". Rename one of both.`);
}

function setOf(name: string, { prefix, migrations }: MigrationsDefinition): MigrationSet {
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(prefix) || prefix === 'core')
    throw new StartError(
      `${name}: the prefix "${prefix}" of its migrations must be lower case letters, digits and single "_".`,
    );
  for (const migration of migrations) {
    if (!/\d{13}$/.test(migration.name))
      throw new StartError(
        `${name}: the name of the migration "${migration.name}" must end with 13 digits, a timestamp.`,
      );
  }
  const names = migrations.map((migration) => migration.name);
  const twice = names.find((migration, index) => names.indexOf(migration) !== index);
  if (twice !== undefined) throw new StartError(`${name}: two migrations are named "${twice}".`);
  return { module: prefix, migrations };
}
