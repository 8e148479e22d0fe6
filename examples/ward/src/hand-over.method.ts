import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsString } from 'class-validator';
import {
  JsonText,
  readJson,
  ResourceDraft,
  ResourceReader,
  ResourceWriter,
  type RpcHandler,
  RpcMethod,
  UnitOfWork,
} from 'svc-health-server';
import { Repository } from 'typeorm';
import { HandOverRow } from './hand-over.entity';

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
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(HandOverRow) private readonly rows: Repository<HandOverRow>,
  ) {}

  async execute({ documentId, ward }: HandOverParams): Promise<JsonText> {
    const { text, version } = await this.reader.read('SDCDocument', documentId);
    const draft = ResourceDraft.of(readJson(text), 'SDCDocument', documentId);
    draft.setMember('ward', JSON.stringify(ward));
    return this.unitOfWork.run(async () => {
      const { resource } = await this.writer.put(draft, documentId, { ifMatch: [version] });
      await this.unitOfWork.bind(this.rows).insert({ documentId, ward });
      return new JsonText(resource.text);
    });
  }
}
