import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { type JsonText } from '../../platform/json/json-text';
import { type StoredResource } from '../../model/stored-resource';
import { RpcRefusal } from '../../rpc/rpc-refusal';
import { Addenda, type NewAddendum, type ParamPath } from './addenda';
import { isFinal, NOTE } from '../types/addendum-kinds';
import { memberText } from '../../rpc/member-text';

/** The addenda that people write: notes, comments, and kinds of their own. */
@Injectable()
export class UserAddenda {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly addenda: Addenda,
  ) {}

  /**
   * @param path of the param that names the target
   * @throws RpcRefusal when the target is unknown, or not signed and the addendum a Note.
   */
  add(addendum: NewAddendum, path: ParamPath = ['target']): Promise<JsonText> {
    return this.unitOfWork.run(async () => {
      const stored = await this.addenda.holdTarget(addendum.target, path);
      if (addendum.type === NOTE && stored !== undefined) assertSigned(stored);
      return this.addenda.add(addendum);
    });
  }
}

/** Interface, "Addendum RPC", rule 2. */
function assertSigned({ type, text }: StoredResource): void {
  if (!isFinal(JSON.parse(memberText(text, 'status') ?? 'null'))) {
    throw new RpcRefusal(`A Note needs a ${type} that is completed or amended; add a Comment instead.`);
  }
}
