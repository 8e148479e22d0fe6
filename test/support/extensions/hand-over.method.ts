import { Injectable } from '@nestjs/common';
import { IsString } from 'class-validator';
import { JsonText } from '../../../src/platform/json/json-text';
import { readJson } from '../../../src/platform/json/read-json';
import { ResourceDraft } from '../../../src/model/resource-draft';
import { ResourceReader } from '../../../src/store/resource-reader';
import { ResourceWriter } from '../../../src/resource/resource-writer';
import { type RpcHandler, RpcMethod } from '../../../src/rpc/rpc-method';

export class HandOverParams {
  @IsString() documentId!: string;
  @IsString() ward!: string;
}

@Injectable()
@RpcMethod({ method: 'acme.ward/hand-over', params: HandOverParams, description: 'Moves a document to a ward.' })
export class HandOver implements RpcHandler<HandOverParams, JsonText> {
  constructor(
    private readonly reader: ResourceReader,
    private readonly writer: ResourceWriter,
  ) {}

  async execute({ documentId, ward }: HandOverParams): Promise<JsonText> {
    const { text, version } = await this.reader.read('SDCDocument', documentId);
    const draft = ResourceDraft.of(readJson(text), 'SDCDocument', documentId);
    draft.setMember('ward', JSON.stringify(ward));
    return new JsonText((await this.writer.put(draft, documentId, { ifMatch: [version] })).resource.text);
  }
}
