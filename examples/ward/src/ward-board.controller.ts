import { Controller, Get } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { InjectRepository } from '@nestjs/typeorm';
import { OperationId, ResourceReader } from 'svc-health-server';
import { Repository } from 'typeorm';
import { HandOverRow } from './hand-over.entity';

@Controller('acme/ward-board')
export class WardBoardController {
  constructor(
    private readonly reader: ResourceReader,
    @InjectRepository(HandOverRow) private readonly rows: Repository<HandOverRow>,
  ) {}

  @Get()
  @OperationId('AcmeWardBoard')
  @ApiOperation({ summary: 'Lists all wards, and counts what was handed over' })
  async board(): Promise<{ wards: unknown[]; handOvers: number }> {
    const wards = (await this.reader.list('Ward')).map(({ text }) => JSON.parse(text) as unknown);
    return { wards, handOvers: await this.rows.count() };
  }
}
