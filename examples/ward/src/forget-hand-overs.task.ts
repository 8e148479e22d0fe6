import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Background, type BackgroundTask, Clock } from 'svc-health-server';
import { LessThan, Repository } from 'typeorm';
import { HandOverRow } from './hand-over.entity';

const HOUR = 3_600_000;
const KEPT = 365 * 24 * HOUR;

@Injectable()
@Background({ task: 'acme-forget-hand-overs', interval: () => HOUR })
export class ForgetHandOvers implements BackgroundTask {
  constructor(
    @InjectRepository(HandOverRow) private readonly rows: Repository<HandOverRow>,
    private readonly clock: Clock,
  ) {}

  async step(): Promise<undefined> {
    await this.rows.delete({ handedOverAt: LessThan(new Date(this.clock.now().getTime() - KEPT)) });
  }
}
