import { createRoot } from 'react-dom/client';
import { App } from '../../chat/src/app.tsx';
import './style.css';

createRoot(document.querySelector('#app')!).render(<App />);
