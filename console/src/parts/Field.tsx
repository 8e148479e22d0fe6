import { type InputHTMLAttributes, type ReactElement, type ReactNode, useId } from 'react';

interface Props {
  readonly label: string;
  readonly hint?: ReactNode;
  /** The fault of the value, if any. */
  readonly fault?: string | undefined;
  /** Renders the control with the attributes that link it to its label. */
  readonly children: (field: {
    readonly id: string;
    readonly className: string;
    readonly 'aria-describedby'?: string;
    readonly 'aria-invalid'?: true;
  }) => ReactNode;
}

/** A control with its label, a hint, and the fault of its value. */
export function Field({ label, hint, fault, children }: Props): ReactElement {
  const id = useId();
  const noteId = `${id}-note`;
  const hasNote = hint !== undefined || fault !== undefined;
  return (
    <div className={fault === undefined ? 'field' : 'field faulty'}>
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        className: 'input',
        ...(hasNote ? { 'aria-describedby': noteId } : {}),
        ...(fault === undefined ? {} : { 'aria-invalid': true }),
      })}
      {hasNote && (
        <p id={noteId} className="note">
          {fault ?? hint}
        </p>
      )}
    </div>
  );
}

interface TextProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'className' | 'id' | 'onChange'> {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly fault?: string | undefined;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

/** A line of text in a {@link Field}. */
export const TextField = ({ label, hint, fault, onChange, ...input }: TextProps): ReactElement => (
  <Field label={label} hint={hint} fault={fault}>
    {(field) => <input {...input} {...field} onChange={({ target }) => onChange(target.value)} />}
  </Field>
);

interface SelectProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly fault?: string | undefined;
  readonly value: string;
  /** The values, or values with their names. */
  readonly options: readonly (string | readonly [value: string, name: string])[];
  readonly onChange: (value: string) => void;
}

/** A choice of one of some values in a {@link Field}. */
export const SelectField = ({ label, hint, fault, value, options, onChange }: SelectProps): ReactElement => (
  <Field label={label} hint={hint} fault={fault}>
    {(field) => (
      <select {...field} value={value} onChange={({ target }) => onChange(target.value)}>
        {options.map((option) => {
          const [one, name] = typeof option === 'string' ? [option, option] : option;
          return (
            <option key={one} value={one}>
              {name}
            </option>
          );
        })}
      </select>
    )}
  </Field>
);

interface CheckProps {
  readonly isOn: boolean;
  readonly onSwitch: (isOn: boolean) => void;
  /** The label. */
  readonly children: ReactNode;
}

/** A checkbox with its label. */
export const Check = ({ isOn, onSwitch, children }: CheckProps): ReactElement => (
  <label className="check">
    <input type="checkbox" checked={isOn} onChange={({ target }) => onSwitch(target.checked)} />
    <span>{children}</span>
  </label>
);
