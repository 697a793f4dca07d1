import type { ComponentProps, JSX } from 'preact';
import { Icon, type IconName } from './icon.tsx';

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'class'> {
  readonly class?: string;
  /** How it looks: the main thing to do, one that destroys, or one among many beside a text. */
  readonly kind?: 'primary' | 'danger' | 'quiet';
  readonly icon?: IconName;
  readonly testId?: string | undefined;
}

/** A button. It submits no form, unless `type` says so. */
export function Button({ kind, icon, testId, class: more, children, ...rest }: ButtonProps): JSX.Element {
  const looks = kind === 'quiet' ? 'quiet-button' : kind === undefined ? 'button' : `button is-${kind}`;
  return (
    <button type='button' class={more === undefined ? looks : `${looks} ${more}`} data-testid={testId} {...rest}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<ButtonProps, 'kind' | 'children'> {
  readonly icon: IconName;
  readonly label: string;
}

/** A button that is an icon only. Its label is read out, and shown under the pointer. */
export function IconButton({ icon, label, testId, class: more, ...rest }: IconButtonProps): JSX.Element {
  return (
    <button
      type='button'
      class={more === undefined ? 'icon-button' : `icon-button ${more}`}
      data-testid={testId}
      aria-label={label}
      title={label}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  );
}
