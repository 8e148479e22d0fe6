import { constants, setPriority } from 'node:os';
import { Attack, type AttackOrder } from './attack';
import { SCENES } from './scenes';

// Real attackers are other machines: here they may only use the CPU time that the server and its readers leave.
setPriority(constants.priority.PRIORITY_LOW);

process.on('message', (order: AttackOrder) => {
  const attack = new Attack(order);
  const scene = SCENES.find(({ name }) => name === order.scene);
  void scene?.attack(attack).then(() => {
    attack.leave();
    process.send?.(attack.result());
  });
});
