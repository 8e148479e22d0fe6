import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../../fhir/types';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { type JsonText } from '../../platform/json/json-text';
import { type StoredResource } from '../../model/stored-resource';
import { RpcRefusal } from '../../rpc/rpc-refusal';
import { type RpcCall } from '../../rpc/rpc-method';
import { Addenda, type NewAddendum, type ParamPath } from './addenda';
import { Authors } from './authors';
import { isFinal, NOTE } from '../types/addendum-kinds';
import { memberText } from '../../rpc/member-text';

/** An addendum as a call brings it. */
export interface SentAddendum extends Pick<NewAddendum, 'type' | 'target' | 'content'> {
  readonly user: NativeReference;
}

/** The addenda that people write: notes, comments, and kinds of their own. */
@Injectable()
export class UserAddenda {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly addenda: Addenda,
    private readonly authors: Authors,
  ) {}

  /**
   * @param path of the param that names the target
   * @throws RpcRefusal when the target is unknown, or not signed and the addendum a Note; what {@link Authors.of} throws.
   */
  add(
    { user, ...addendum }: SentAddendum,
    { caller }: Pick<RpcCall, 'caller'>,
    path: ParamPath = ['target'],
  ): Promise<JsonText> {
    const author = this.authors.of(user, caller);
    return this.unitOfWork.run(async () => {
      const stored = await this.addenda.holdTarget(addendum.target, path);
      if (addendum.type === NOTE && stored !== undefined) assertSigned(stored);
      return this.addenda.add({ ...addendum, author });
    });
  }
}

/** Interface, "Addendum RPC", rule 2. */
function assertSigned({ type, text }: StoredResource): void {
  if (!isFinal(JSON.parse(memberText(text, 'status') ?? 'null'))) {
    throw new RpcRefusal(`A Note needs a ${type} that is completed or amended; add a Comment instead.`);
  }
}
