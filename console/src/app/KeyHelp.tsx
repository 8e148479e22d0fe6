import { type ReactElement } from 'react';
import { Dialog } from '../parts/Dialog';
import { Check } from '../parts/Field';
import { PAGES } from './pages';

interface Props {
  readonly isOn: boolean;
  readonly onSwitch: (isOn: boolean) => void;
  readonly onClose: () => void;
}

export function KeyHelp({ isOn, onSwitch, onClose }: Props): ReactElement {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl className="keys">
        {PAGES.map(({ path, name, shortcut }) => (
          <div key={path}>
            <dt>
              <kbd>g</kbd> <kbd>{shortcut}</kbd>
            </dt>
            <dd>{name}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>/</kbd>
          </dt>
          <dd>The search of the page</dd>
        </div>
        <div>
          <dt>
            <kbd>↑</kbd> <kbd>↓</kbd> <kbd>Enter</kbd>
          </dt>
          <dd>Move in a table, open its row</dd>
        </div>
        <div>
          <dt>
            <kbd>←</kbd> <kbd>→</kbd>
          </dt>
          <dd>Move between tabs</dd>
        </div>
        <div>
          <dt>
            <kbd>Esc</kbd>
          </dt>
          <dd>Close a dialog</dd>
        </div>
        <div>
          <dt>
            <kbd>?</kbd>
          </dt>
          <dd>This list</dd>
        </div>
      </dl>
      <Check isOn={isOn} onSwitch={onSwitch}>
        Single keys are on. Turn them off where they disturb speech input or a screen reader.
      </Check>
    </Dialog>
  );
}
