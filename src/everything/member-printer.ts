import { type Subset, subsetOf } from '../fhir/subset';
import { searchEntry } from '../resource/api/resource-answer';
import { type Member } from './chart-reader';
import { type Portion } from './chart-plan';
import { type Reasons } from './reasons';

/** Stands for the text: no id or code holds it. */
const MARK = '\0';

/** Turns members into the text of an answer: entries of a Bundle, or lines. */
export class MemberPrinter {
  constructor(
    private readonly rootUrl: string,
    private readonly reasons: Reasons,
    private readonly subset: Subset | undefined,
    readonly isLines: boolean,
  ) {}

  get between(): string {
    return this.isLines ? '' : ',';
  }

  print(member: Member, mode: Portion['mode']): string {
    const text = this.subset === undefined ? member.text : subsetOf(member.text, this.subset);
    if (this.isLines) return `${text}\n`;
    return searchEntry(
      this.rootUrl,
      { type: member.type, id: member.id, text },
      mode,
      this.reasons.of(member.parameters, mode),
    );
  }

  /**
   * What stands before and after the stored text of a member, which is then joined by the database; undefined where it is
   * not shown as it is.
   */
  around(
    { type, id, parameters }: Omit<Member, 'text'>,
    mode: Portion['mode'],
  ): readonly [before: string, after: string] | undefined {
    if (this.subset !== undefined) return undefined;
    if (this.isLines) return ['', '\n'];
    const [before = '', after = ''] = searchEntry(
      this.rootUrl,
      { type, id, text: MARK },
      mode,
      this.reasons.of(parameters, mode),
    ).split(MARK);
    return [before, after];
  }

  /** Several, with what stands between them. */
  printAll(members: readonly Member[], mode: Portion['mode']): string {
    return members.map((member) => this.print(member, mode)).join(this.between);
  }
}
