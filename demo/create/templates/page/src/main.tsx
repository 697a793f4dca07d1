import { render } from 'preact';
import { App } from '../../chat/src/app.tsx';
import './style.css';

render(<App />, document.querySelector('#app')!);
