import { type Subset, subsetOf } from '../fhir/subset';
import { searchEntry } from '../resource/api/resource-answer';
import { type Member } from './chart-reader';
import { type Portion } from './chart-plan';
import { type Reasons } from './reasons';

/** Turns members into the text of an answer: entries of a Bundle, or lines. */
export class MemberPrinter {
  constructor(
    private readonly rootUrl: string,
    private readonly reasons: Reasons,
    private readonly subset: Subset | undefined,
    readonly isLines: boolean,
  ) {}

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

  /** Several, with what stands between them. */
  printAll(members: readonly Member[], mode: Portion['mode']): string {
    return members.map((member) => this.print(member, mode)).join(this.isLines ? '' : ',');
  }
}
