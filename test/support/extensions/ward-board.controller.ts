import { Controller, Get } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { OperationId } from '../../../src/platform/http/route-access';
import { ResourceReader } from '../../../src/store/resource-reader';

@Controller('acme/ward-board')
export class WardBoardController {
  constructor(private readonly reader: ResourceReader) {}

  @Get()
  @OperationId('AcmeWardBoard')
  @ApiOperation({ summary: 'Lists all wards' })
  async board(): Promise<{ wards: unknown[] }> {
    return { wards: (await this.reader.list('Ward')).map(({ text }) => JSON.parse(text) as unknown) };
  }
}
