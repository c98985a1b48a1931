<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="es_ES" sourcelanguage="en">
<context>
    <name>Alerts</name>
    <message>
        <source>Run finished</source>
        <translation>Ejecución terminada</translation>
    </message>
    <message>
        <source>Run interrupted</source>
        <translation>Ejecución interrumpida</translation>
    </message>
    <message>
        <source>Run failed</source>
        <translation>Ejecución fallida</translation>
    </message>
    <message>
        <source>Loss is not a number</source>
        <translation>La pérdida no es un número</translation>
    </message>
    <message>
        <source>Loss spike</source>
        <translation>Pico de pérdida</translation>
    </message>
    <message>
        <source>Worker makes no progress</source>
        <translation>Un trabajador no avanza</translation>
    </message>
    <message>
        <source>Out of memory</source>
        <translation>Sin memoria</translation>
    </message>
    <message>
        <source>Data repeats itself</source>
        <translation>Los datos se repiten</translation>
    </message>
    <message>
        <source>Loss too good to be true</source>
        <translation>Pérdida demasiado buena</translation>
    </message>
    <message>
        <source>Chunk trained twice or missing</source>
        <translation>Fragmento entrenado dos veces o ausente</translation>
    </message>
    <message>
        <source>Disk nearly full</source>
        <translation>Disco casi lleno</translation>
    </message>
    <message>
        <source>%1 has finished: %2.</source>
        <translation>%1 ha terminado: %2.</translation>
    </message>
    <message>
        <source>%1 was interrupted. Resume shows what would be trained again.</source>
        <translation>%1 fue interrumpida. Reanudar muestra lo que se entrenaría de nuevo.</translation>
    </message>
    <message>
        <source>%1 has failed: %2</source>
        <translation>%1 ha fallado: %2</translation>
    </message>
    <message>
        <source>%1 of the rows repeat a row before them and are left out.</source>
        <translation>El %1 de las filas repite una fila anterior y se omite.</translation>
    </message>
    <message>
        <source>%1 ended: %2. A smaller batch needs less memory.</source>
        <translation>%1 acabó: %2. Un lote menor necesita menos memoria.</translation>
    </message>
    <message>
        <source>The loss of %1 is %2: the model knows this data by heart, or the data is trivial.</source>
        <translation>La pérdida de %1 es %2: el modelo sabe estos datos de memoria, o los datos son triviales.</translation>
    </message>
    <message>
        <source>Loss spike on %1: %2</source>
        <translation>Pico de pérdida en %1: %2</translation>
    </message>
    <message>
        <source>Not a number on %1: %2</source>
        <translation>Valor no numérico en %1: %2</translation>
    </message>
    <message>
        <source>%1 went back to its last checkpoint: %2</source>
        <translation>%1 volvió a su último punto de control: %2</translation>
    </message>
    <message>
        <source>Worker died</source>
        <translation>Trabajador muerto</translation>
    </message>
    <message>
        <source>Checkpoints cannot be found</source>
        <translation>Faltan los puntos de control</translation>
    </message>
    <message>
        <source>Run waits for its data</source>
        <translation>La ejecución espera sus datos</translation>
    </message>
    <message>
        <source>Files of the data left out</source>
        <translation>Archivos de datos omitidos</translation>
    </message>
    <message>
        <source>The run waits for its data: %1</source>
        <translation>La ejecución espera sus datos: %1</translation>
    </message>
    <message>
        <source>Checkpoints cannot be removed</source>
        <translation>No se pueden eliminar puntos de control</translation>
    </message>
</context>
<context>
    <name>AskDialog</name>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
</context>
<context>
    <name>AuditReport</name>
    <message>
        <source>Epoch</source>
        <translation>Época</translation>
    </message>
    <message>
        <source>Chunks expected</source>
        <translation>Fragmentos esperados</translation>
    </message>
    <message>
        <source>Committed</source>
        <translation>Confirmados</translation>
    </message>
    <message>
        <source>Trained twice</source>
        <translation>Entrenados dos veces</translation>
    </message>
    <message>
        <source>Missing</source>
        <translation>Ausentes</translation>
    </message>
    <message>
        <source>Still to come</source>
        <translation>Pendientes</translation>
    </message>
    <message>
        <source>Excluded</source>
        <translation>Excluidos</translation>
    </message>
    <message>
        <source>Poisoned</source>
        <translation>Envenenados</translation>
    </message>
    <message>
        <source>Samples committed</source>
        <translation>Muestras confirmadas</translation>
    </message>
    <message>
        <source>not known yet</source>
        <translation>aún no se sabe</translation>
    </message>
    <message>
        <source>%1, attempt %2: %3 to %4, %5</source>
        <translation>%1, intento %2: de %3 a %4, %5</translation>
    </message>
    <message>
        <source>Audit of %1</source>
        <translation>Auditoría de %1</translation>
    </message>
    <message>
        <source>What was checked</source>
        <translation>Qué se comprobó</translation>
    </message>
    <message>
        <source>Not inspected, because nothing else records it</source>
        <translation>No inspeccionado, porque no consta en ningún otro sitio</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>Hallazgos</translation>
    </message>
    <message>
        <source>; wrong: %1</source>
        <translation>; incorrecto: %1</translation>
    </message>
    <message>
        <source>; could not be inspected: %1</source>
        <translation>; no se pudo inspeccionar: %1</translation>
    </message>
    <message>
        <source>%1: %2 %</source>
        <translation>%1: %2 %</translation>
    </message>
    <message>
        <source>now</source>
        <translation>ahora</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
    <message>
        <source>Private training</source>
        <translation>Entrenamiento privado</translation>
    </message>
    <message>
        <source>Outside of the guarantee</source>
        <translation>Fuera de la garantía</translation>
    </message>
    <message>
        <source>Left out, trained by the parent run</source>
        <translation>Omitidos, entrenados por la ejecución padre</translation>
    </message>
</context>
<context>
    <name>Chart</name>
    <message>
        <source>worker %1</source>
        <translation>trabajador %1</translation>
    </message>
    <message>
        <source>mean</source>
        <translation>media</translation>
    </message>
</context>
<context>
    <name>ChartData</name>
    <message>
        <source>Attempt %1</source>
        <translation>Intento %1</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>%1 min</source>
        <translation>%1 min</translation>
    </message>
    <message>
        <source>%1 h</source>
        <translation>%1 h</translation>
    </message>
    <message>
        <source>%1 h %2 min</source>
        <translation>%1 h %2 min</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>pasos</translation>
    </message>
    <message>
        <source>samples</source>
        <translation>muestras</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>tokens</translation>
    </message>
    <message>
        <source>epochs</source>
        <translation>épocas</translation>
    </message>
    <message>
        <source>last step %1, resumed %2</source>
        <translation>último paso %1, reanudado %2</translation>
    </message>
    <message numerus="yes">
        <source>%n step(s) of attempt %1 are not in the weights</source>
        <translation>
            <numerusform>%n paso del intento %1 no está en los pesos</numerusform>
            <numerusform>%n pasos del intento %1 no están en los pesos</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ChartStatistics</name>
    <message>
        <source>Visible range</source>
        <translation>Rango visible</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Puntos</translation>
    </message>
    <message>
        <source>Smallest</source>
        <translation>Mínimo</translation>
    </message>
    <message>
        <source>Mean</source>
        <translation>Media</translation>
    </message>
    <message>
        <source>Largest</source>
        <translation>Máximo</translation>
    </message>
    <message>
        <source>Newest</source>
        <translation>Último</translation>
    </message>
    <message>
        <source>Statistics of the visible range</source>
        <translation>Estadística del rango visible</translation>
    </message>
</context>
<context>
    <name>Charts</name>
    <message>
        <source>nats per pair</source>
        <translation>nats por par</translation>
    </message>
    <message>
        <source>nats per token</source>
        <translation>nats por token</translation>
    </message>
</context>
<context>
    <name>ChartsPage</name>
    <message>
        <source>Attempt %1</source>
        <translation>Intento %1</translation>
    </message>
    <message>
        <source>after attempt %1: %2</source>
        <translation>tras el intento %1: %2</translation>
    </message>
</context>
<context>
    <name>Choices</name>
    <message>
        <source>Automatic</source>
        <translation>Automático</translation>
    </message>
    <message>
        <source>Lines</source>
        <translation>Líneas</translation>
    </message>
    <message>
        <source>Paragraphs</source>
        <translation>Párrafos</translation>
    </message>
    <message>
        <source>Spans</source>
        <translation>Tramos</translation>
    </message>
    <message>
        <source>Stream</source>
        <translation>Flujo</translation>
    </message>
    <message>
        <source>Train</source>
        <translation>Entrenar</translation>
    </message>
    <message>
        <source>GPT</source>
        <translation>GPT</translation>
    </message>
    <message>
        <source>HRM</source>
        <translation>HRM</translation>
    </message>
    <message>
        <source>Learned</source>
        <translation>Aprendidas</translation>
    </message>
    <message>
        <source>Rotary</source>
        <translation>Rotatorias</translation>
    </message>
    <message>
        <source>LayerNorm</source>
        <translation>LayerNorm</translation>
    </message>
    <message>
        <source>RMSNorm</source>
        <translation>RMSNorm</translation>
    </message>
    <message>
        <source>GELU</source>
        <translation>GELU</translation>
    </message>
    <message>
        <source>SwiGLU</source>
        <translation>SwiGLU</translation>
    </message>
    <message>
        <source>Train again</source>
        <translation>Otra vez</translation>
    </message>
    <message>
        <source>Leave out</source>
        <translation>Omitir</translation>
    </message>
    <message>
        <source>Cosine</source>
        <translation>Coseno</translation>
    </message>
    <message>
        <source>Linear</source>
        <translation>Lineal</translation>
    </message>
    <message>
        <source>Constant</source>
        <translation>Constante</translation>
    </message>
    <message>
        <source>Stable, decay</source>
        <translation>Estable, baja</translation>
    </message>
    <message>
        <source>Flash</source>
        <translation>Flash</translation>
    </message>
    <message>
        <source>Efficient</source>
        <translation>Eficiente</translation>
    </message>
    <message>
        <source>Plain</source>
        <translation>Simple</translation>
    </message>
    <message>
        <source>Own replicas</source>
        <translation>Réplica propia</translation>
    </message>
    <message>
        <source>One model</source>
        <translation>Un modelo</translation>
    </message>
    <message>
        <source>AdamW</source>
        <translation>AdamW</translation>
    </message>
    <message>
        <source>AdamW, 8-bit</source>
        <translation>AdamW, 8 bits</translation>
    </message>
    <message>
        <source>AdamATan2</source>
        <translation>AdamATan2</translation>
    </message>
    <message>
        <source>SGD</source>
        <translation>SGD</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Ninguna</translation>
    </message>
    <message>
        <source>Average</source>
        <translation>Media</translation>
    </message>
    <message>
        <source>DiLoCo</source>
        <translation>DiLoCo</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Detener</translation>
    </message>
    <message>
        <source>GELU, exact</source>
        <translation>GELU, exacta</translation>
    </message>
    <message>
        <source>GeGLU</source>
        <translation>GeGLU</translation>
    </message>
    <message>
        <source>GeGLU, exact</source>
        <translation>GeGLU, exacta</translation>
    </message>
    <message>
        <source>SiLU</source>
        <translation>SiLU</translation>
    </message>
    <message>
        <source>Every answer</source>
        <translation>Cada respuesta</translation>
    </message>
    <message>
        <source>The last answer</source>
        <translation>La última respuesta</translation>
    </message>
    <message>
        <source>Split</source>
        <translation>Dividir</translation>
    </message>
    <message>
        <source>Cut</source>
        <translation>Cortar</translation>
    </message>
    <message>
        <source>On</source>
        <translation>Sí</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>No</translation>
    </message>
    <message>
        <source>End to end</source>
        <translation>Una tras otra</translation>
    </message>
    <message>
        <source>Best fit</source>
        <translation>Mejor ajuste</translation>
    </message>
    <message>
        <source>One each</source>
        <translation>Una por ventana</translation>
    </message>
    <message>
        <source>A window</source>
        <translation>Una ventana</translation>
    </message>
    <message>
        <source>A sample</source>
        <translation>Una muestra</translation>
    </message>
    <message>
        <source>The next token</source>
        <translation>El token siguiente</translation>
    </message>
    <message>
        <source>Preferences (DPO)</source>
        <translation>Preferencias (DPO)</translation>
    </message>
    <message>
        <source>Not at all</source>
        <translation>Nada</translation>
    </message>
    <message>
        <source>By its tokens</source>
        <translation>Por sus tokens</translation>
    </message>
</context>
<context>
    <name>ChunkCell</name>
    <message>
        <source>free</source>
        <translation>libre</translation>
    </message>
    <message>
        <source>leased</source>
        <translation>reservado</translation>
    </message>
    <message>
        <source>trained</source>
        <translation>entrenado</translation>
    </message>
    <message>
        <source>committed</source>
        <translation>confirmado</translation>
    </message>
    <message>
        <source>work lost</source>
        <translation>trabajo perdido</translation>
    </message>
    <message>
        <source>excluded</source>
        <translation>excluido</translation>
    </message>
    <message>
        <source>poisoned</source>
        <translation>envenenado</translation>
    </message>
    <message>
        <source>kept</source>
        <translation>se conserva</translation>
    </message>
    <message>
        <source>to be redone</source>
        <translation>por repetir</translation>
    </message>
    <message>
        <source>orphaned claim</source>
        <translation>reserva huérfana</translation>
    </message>
    <message>
        <source>partly trained</source>
        <translation>entrenado en parte</translation>
    </message>
</context>
<context>
    <name>Core</name>
    <message>
        <source>SIGKILL (likely the out-of-memory killer)</source>
        <translation>SIGKILL (probablemente por falta de memoria)</translation>
    </message>
    <message>
        <source>signal %1</source>
        <translation>señal %1</translation>
    </message>
    <message>
        <source>exit code %1</source>
        <translation>código de salida %1</translation>
    </message>
    <message>
        <source>%1 % of the text prepared so far repeats text before it. The loss will look better than it is. Set duplicates to skip, or look for files that are in the data twice.</source>
        <translation>El %1 % del texto preparado hasta ahora repite texto anterior. La pérdida parecerá mejor de lo que es. Ponga duplicates en skip, o busque archivos que estén dos veces en los datos.</translation>
    </message>
    <message>
        <source>The loss is %1 bits per byte in the first pass over the data, below anything that can be learnt from new text (zstd needs %2). Labels may not be shifted, or the data contains copies of itself.</source>
        <translation>La pérdida es de %1 bits por byte en la primera pasada por los datos, menos de lo que puede aprenderse de texto nuevo (zstd necesita %2). Quizá las etiquetas no estén desplazadas, o los datos se contengan a sí mismos.</translation>
    </message>
    <message>
        <source>its prepared file is gone from the cache</source>
        <translation>su archivo preparado ya no está en la caché</translation>
    </message>
    <message>
        <source>its supervisor was gone</source>
        <translation>su supervisor ya no existía</translation>
    </message>
    <message>
        <source>The folder is looked at from outside (%1), so the run is trained by another computer, whose processes cannot be seen from here.</source>
        <translation>La carpeta se está viendo desde fuera (%1), así que la ejecución la entrena otro equipo, cuyos procesos no se ven desde aquí.</translation>
    </message>
    <message>
        <source>The run wrote something %1 ago.</source>
        <translation>La ejecución escribió algo hace %1.</translation>
    </message>
    <message>
        <source>no sign of life for %1 from the computer that trains it</source>
        <translation>sin señales de vida del equipo que la entrena desde hace %1</translation>
    </message>
    <message>
        <source>No attempt was started yet.</source>
        <translation>Aún no se ha iniciado ningún intento.</translation>
    </message>
    <message>
        <source>The supervisor (process %1) holds the run; its last heartbeat is %2 ago.</source>
        <translation>El supervisor (proceso %1) tiene a su cargo la ejecución; su último latido fue hace %2.</translation>
    </message>
    <message>
        <source>%1 of %2 workers alive.</source>
        <translation>%1 de %2 trabajadores vivos.</translation>
    </message>
    <message>
        <source>Attempt %1 ended at %2: %3.</source>
        <translation>El intento %1 terminó (%2): %3.</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
    </message>
    <message>
        <source>A process holds the run and has not written a heartbeat yet.</source>
        <translation>Un proceso tiene a su cargo la ejecución y aún no ha escrito ningún latido.</translation>
    </message>
    <message>
        <source>The supervisor process is gone.</source>
        <translation>El proceso supervisor ya no existe.</translation>
    </message>
    <message>
        <source>The boot id changed: the computer was restarted.</source>
        <translation>El identificador de arranque cambió: el equipo se reinició.</translation>
    </message>
    <message>
        <source>Attempt %1 has no exit record.</source>
        <translation>El intento %1 no tiene registro de salida.</translation>
    </message>
    <message>
        <source>The last heartbeat was at %1.</source>
        <translation>El último latido es de %1.</translation>
    </message>
    <message>
        <source>The supervisor logged at its end: %1</source>
        <translation>El supervisor anotó al terminar: %1</translation>
    </message>
    <message>
        <source>the supervisor process is gone, there is no exit record</source>
        <translation>el proceso supervisor ya no existe y no hay registro de salida</translation>
    </message>
    <message>
        <source>the computer restarted while the run was training</source>
        <translation>el equipo se reinició mientras la ejecución entrenaba</translation>
    </message>
    <message>
        <source>A person marked the run as finished at %1; until then it was %2.</source>
        <translation>Una persona marcó la ejecución como terminada (%1); hasta entonces estaba %2.</translation>
    </message>
    <message>
        <source>The feeder</source>
        <translation>El alimentador</translation>
    </message>
    <message>
        <source>Worker %1</source>
        <translation>El trabajador %1</translation>
    </message>
    <message>
        <source>the run was killed</source>
        <translation>se forzó el cierre de la ejecución</translation>
    </message>
    <message>
        <source>%1 ended with %2: %3 See %4 for more.</source>
        <translation>%1 terminó con %2: %3 Más información en %4.</translation>
    </message>
    <message>
        <source>%1 The limit of %2 restarts is reached.</source>
        <translation>%1 Se alcanzó el límite de %2 reinicios.</translation>
    </message>
    <message>
        <source>no progress within its lease</source>
        <translation>sin progreso durante su reserva</translation>
    </message>
    <message>
        <source>killed; what was trained since the last checkpoints is trained again</source>
        <translation>cierre forzado; lo entrenado desde los últimos puntos de control se entrena de nuevo</translation>
    </message>
    <message>
        <source>after a checkpoint</source>
        <translation>tras un punto de control</translation>
    </message>
    <message>
        <source>The workers ended before the run did.</source>
        <translation>Los trabajadores terminaron antes que la ejecución.</translation>
    </message>
    <message>
        <source>replica %1 stands on a damaged checkpoint %2</source>
        <translation>la réplica %1 se apoya en un punto de control dañado %2</translation>
    </message>
    <message>
        <source>nobody holds %1, which is %2</source>
        <translation>nadie tiene %1, que está en estado %2</translation>
    </message>
    <message>
        <source>somebody holds %1, which is %2</source>
        <translation>alguien tiene %1, que está en estado %2</translation>
    </message>
    <message>
        <source>%1 is counted in checkpoint %2, which no surviving weights were made from</source>
        <translation>%1 se cuenta en el punto de control %2, del que no procede ningún peso superviviente</translation>
    </message>
    <message>
        <source>%1: windows %2 to %3 are in the surviving weights twice (the second time through checkpoint %4); likely cause: the ledger was changed from outside, or restored from an older copy while a worker went on</source>
        <translation>%1: las ventanas %2 a %3 están dos veces en los pesos supervivientes (la segunda por el punto de control %4); causa probable: el registro se cambió desde fuera, o se restauró de una copia antigua mientras un trabajador seguía trabajando</translation>
    </message>
    <message>
        <source>%1 counts as committed, but only %2 of %3 windows are in surviving checkpoints; likely cause: a checkpoint row was removed or changed from outside</source>
        <translation>%1 consta como confirmado, pero solo %2 de %3 ventanas están en puntos de control supervivientes; causa probable: una fila de punto de control se quitó o cambió desde fuera</translation>
    </message>
    <message>
        <source>%1: the ledger counts %2 covered windows, its parts cover %3</source>
        <translation>%1: el registro cuenta %2 ventanas cubiertas, sus partes cubren %3</translation>
    </message>
    <message>
        <source>%1: its samples do not add up to its %2 rows</source>
        <translation>%1: sus muestras no suman sus %2 filas</translation>
    </message>
    <message>
        <source>chunk %1 of block %2 (epoch %3) is %4</source>
        <translation>el fragmento %1 del bloque %2 (época %3) está en estado %4</translation>
    </message>
    <message>
        <source>chunk %1 of block %2 (epoch %3) is %4: %5</source>
        <translation>el fragmento %1 del bloque %2 (época %3) está en estado %4: %5</translation>
    </message>
    <message>
        <source>%1: claim %2 began before claim %3 had ended; likely cause: the ledger was changed from outside, or two copies of it were in use</source>
        <translation>%1: la reserva %2 empezó antes de que terminara la reserva %3; causa probable: el registro se cambió desde fuera, o se usaron dos copias de él</translation>
    </message>
    <message>
        <source>%1: claim %2 is open but does not hold the chunk</source>
        <translation>%1: la reserva %2 está abierta pero no tiene el fragmento</translation>
    </message>
    <message>
        <source>epoch %1 leaves out %2 chunks that the parent run trained (parent.json names it)</source>
        <translation>la época %1 omite %2 fragmentos que entrenó la ejecución padre (parent.json la nombra)</translation>
    </message>
    <message>
        <source>%1 chunks of epoch %2 are in the weights of the parent run too: this run is a new pass (parent_chunks=again)</source>
        <translation>%1 fragmentos de la época %2 están también en los pesos de la ejecución padre: esta ejecución es una pasada nueva (parent_chunks=again)</translation>
    </message>
    <message>
        <source>the tracker was damaged and %1</source>
        <translation>el registro estaba dañado y %1</translation>
    </message>
    <message>
        <source>the counters of block %1 (epoch %2) differ from its chunks</source>
        <translation>los contadores del bloque %1 (época %2) difieren de sus fragmentos</translation>
    </message>
    <message>
        <source>epoch %1 has %2 chunks, its blocks promise %3</source>
        <translation>la época %1 tiene %2 fragmentos, sus bloques prometen %3</translation>
    </message>
    <message>
        <source>epoch %1 is closed although %2 chunks are left</source>
        <translation>la época %1 está cerrada aunque quedan %2 fragmentos</translation>
    </message>
    <message>
        <source>no stopping rule is reached any more</source>
        <translation>ya no se alcanza ninguna regla de parada</translation>
    </message>
    <message>
        <source>stopping rule reached: %1</source>
        <translation>regla de parada alcanzada: %1</translation>
    </message>
    <message>
        <source>an epoch is complete</source>
        <translation>una época está completa</translation>
    </message>
    <message>
        <source>%1 epochs are complete</source>
        <translation>%1 épocas están completas</translation>
    </message>
    <message>
        <source>epoch %1 opened</source>
        <translation>época %1 abierta</translation>
    </message>
    <message>
        <source>on the quarantine list</source>
        <translation>en la lista de cuarentena</translation>
    </message>
    <message>
        <source>trained by the parent run</source>
        <translation>entrenado por la ejecución padre</translation>
    </message>
    <message>
        <source>nothing to train</source>
        <translation>nada que entrenar</translation>
    </message>
    <message>
        <source>prepared</source>
        <translation>preparado</translation>
    </message>
    <message>
        <source>epoch %1 opened again</source>
        <translation>época %1 abierta de nuevo</translation>
    </message>
    <message>
        <source>rebuilt</source>
        <translation>reconstruido</translation>
    </message>
    <message>
        <source>rebuilt: %1 checkpoints with %2 parts were added from their files</source>
        <translation>reconstruido: se añadieron %1 puntos de control con %2 partes desde sus archivos</translation>
    </message>
    <message>
        <source>accepted as not trained</source>
        <translation>aceptado como no entrenado</translation>
    </message>
    <message>
        <source>another try</source>
        <translation>otro intento</translation>
    </message>
    <message>
        <source>checkpoint %1 is damaged: %2</source>
        <translation>el punto de control %1 está dañado: %2</translation>
    </message>
    <message>
        <source>the run went back to %1</source>
        <translation>la ejecución volvió a %1</translation>
    </message>
    <message>
        <source>merge round %1 opened</source>
        <translation>ronda de fusión %1 abierta</translation>
    </message>
    <message>
        <source>chunk %1 of block %2 (epoch %3)</source>
        <translation>el fragmento %1 del bloque %2 (época %3)</translation>
    </message>
    <message>
        <source>checkpoint %1</source>
        <translation>punto de control %1</translation>
    </message>
    <message>
        <source>the rest after %1</source>
        <translation>el resto tras %1</translation>
    </message>
    <message>
        <source>claim</source>
        <translation>reserva</translation>
    </message>
    <message>
        <source>given back</source>
        <translation>devuelto</translation>
    </message>
    <message>
        <source>trained</source>
        <translation>entrenado</translation>
    </message>
    <message>
        <source>rank 0 ended</source>
        <translation>el rango 0 terminó</translation>
    </message>
    <message>
        <source>%1, %2, written in %3</source>
        <translation>%1, %2, escrito en %3</translation>
    </message>
    <message>
        <source>the loss or gradient norm of windows %1-%2 is not finite; the step is left out</source>
        <translation>la pérdida o la norma del gradiente de las ventanas %1-%2 no es finita; el paso se omite</translation>
    </message>
    <message>
        <source>loss %1 in windows %2-%3 is an outlier: robust z-score %4</source>
        <translation>la pérdida %1 en las ventanas %2-%3 se sale de lo normal: z robusta %4</translation>
    </message>
    <message>
        <source>%1 It is left out of the merge; its chunks are trained again.</source>
        <translation>%1 Queda fuera de la fusión; sus fragmentos se entrenan de nuevo.</translation>
    </message>
    <message>
        <source>%1 The replicas are averaged without it.</source>
        <translation>%1 Las réplicas se promedian sin ella.</translation>
    </message>
    <message>
        <source>merged %1 replicas into %2</source>
        <translation>%1 réplicas fusionadas en %2</translation>
    </message>
    <message>
        <source>%1, loss on held-out text %2</source>
        <translation>%1, pérdida en el texto reservado %2</translation>
    </message>
    <message>
        <source>%1; distances from the base %2</source>
        <translation>%1; distancias desde la base %2</translation>
    </message>
    <message>
        <source>no progress for %1 in phase &apos;%2&apos;; if that continues, the lease of this worker ends and its work goes to others</source>
        <translation>sin progreso durante %1 en la fase «%2»; si sigue así, la reserva de este trabajador termina y su trabajo pasa a otros</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>detenido</translation>
    </message>
    <message>
        <source>the epochs are complete</source>
        <translation>las épocas están completas</translation>
    </message>
    <message>
        <source>a stopping rule is reached</source>
        <translation>se alcanzó una regla de parada</translation>
    </message>
    <message>
        <source>adaptive rate: mean loss of %1 steps went from %2 to %3, so the rate is %4 % of the schedule (before: %5 %)</source>
        <translation>tasa adaptativa: la pérdida media de %1 pasos pasó de %2 a %3, así que la tasa es el %4 % de lo previsto (antes: %5 %)</translation>
    </message>
    <message>
        <source>%1 is %2, allowed is at most %3, which is %4.</source>
        <translation>%1 es %2; se permite como máximo %3, que es %4.</translation>
    </message>
    <message>
        <source>%1 is empty, allowed is byte, char, gpt2 or the path of a tokenizer.json.</source>
        <translation>%1 está vacío; se permite byte, char, gpt2 o la ruta de un tokenizer.json.</translation>
    </message>
    <message>
        <source>%1 is %2, below %3 %4: every sample would be filtered.</source>
        <translation>%1 es %2, por debajo de %3 %4: se filtrarían todas las muestras.</translation>
    </message>
    <message>
        <source>%1 has %2 numbers for %3 sources, allowed is one for each or none.</source>
        <translation>%1 tiene %2 números para %3 fuentes; se permite uno por cada una o ninguno.</translation>
    </message>
    <message>
        <source>%1 has &apos;%2&apos;, allowed are numbers above 0.</source>
        <translation>%1 tiene «%2»; se permiten números mayores que 0.</translation>
    </message>
    <message>
        <source>%1 names several sources, %2 stream takes one file.</source>
        <translation>%1 nombra varias fuentes; %2 stream toma un solo archivo.</translation>
    </message>
    <message>
        <source>%1 is %2, which does not divide %3 %4.</source>
        <translation>%1 es %2, que no divide %3 %4.</translation>
    </message>
    <message>
        <source>%1 is %2: rotary positions need an even head size, width / heads is %3.</source>
        <translation>%1 es %2: las posiciones rotatorias necesitan un tamaño de cabeza par; ancho / cabezas es %3.</translation>
    </message>
    <message>
        <source>%1 is 1, allowed is 0 (no experts) or 2 to 256.</source>
        <translation>%1 es 1; se permite 0 (sin expertos) o de 2 a 256.</translation>
    </message>
    <message>
        <source>%1 is %2, which works with architecture gpt without experts only.</source>
        <translation>%1 es %2, lo que solo funciona con la arquitectura gpt sin expertos.</translation>
    </message>
    <message>
        <source>%1 is fp16, which needs a GPU, but with %2 %3 the workers train on the CPU here; allowed there is auto, fp32 or bf16.</source>
        <translation>%1 es fp16, que necesita una GPU, pero con %2 %3 los trabajadores entrenan aquí en la CPU; allí se permite auto, fp32 o bf16.</translation>
    </message>
    <message>
        <source>%1 is %2, but each worker does about %3 steps until the run ends: its learning rate would never reach %4. Lower %5, or train longer.</source>
        <translation>%1 es %2, pero cada trabajador hace unos %3 pasos hasta el final de la ejecución: su tasa de aprendizaje nunca llegaría a %4. Baje %5 o entrene más tiempo.</translation>
    </message>
    <message>
        <source>%1 is %2, but there are no weights to keep as they are: the pairs would be trained beside random ones. Name the weights with %3.</source>
        <translation>%1 es %2, pero no hay pesos que conservar tal cual: los pares se entrenarían junto a pesos aleatorios. Indique los pesos con %3.</translation>
    </message>
    <message>
        <source>%1 is %2, but hrm has none.</source>
        <translation>%1 es %2, pero hrm no lo tiene.</translation>
    </message>
    <message>
        <source>%1 is on, which works with architecture gpt only; hrm keeps the activations of one step anyway.</source>
        <translation>%1 está activado, lo que solo funciona con la arquitectura gpt; hrm guarda de todos modos las activaciones de un solo paso.</translation>
    </message>
    <message>
        <source>%1 is fp16, which needs a GPU; allowed with %2 %3 is auto, fp32 or bf16.</source>
        <translation>%1 es fp16, que necesita una GPU; con %2 %3 se permite auto, fp32 o bf16.</translation>
    </message>
    <message>
        <source>%1 is 0: nothing would be learnt.</source>
        <translation>%1 es 0: no se aprendería nada.</translation>
    </message>
    <message>
        <source>%1 is empty, allowed is auto, cpu:N or a list of GPUs.</source>
        <translation>%1 está vacío; se permite auto, cpu:N o una lista de GPU.</translation>
    </message>
    <message>
        <source>%1 is %2, allowed is cpu or cpu:1 to cpu:256.</source>
        <translation>%1 es %2; se permite cpu o de cpu:1 a cpu:256.</translation>
    </message>
    <message>
        <source>%1 is 1, but %2 is data, which splits each step over at least 2.</source>
        <translation>%1 es 1, pero %2 es data, que reparte cada paso entre al menos 2.</translation>
    </message>
    <message>
        <source>%1 is cpu:1, but %2 is data, which splits each step over at least 2 workers.</source>
        <translation>%1 es cpu:1, pero %2 es data, que reparte cada paso entre al menos 2 trabajadores.</translation>
    </message>
    <message>
        <source>%1 is diloco, but with %2 data there is one model and nothing to merge; allowed is average or none.</source>
        <translation>%1 es diloco, pero con %2 data hay un solo modelo y nada que fusionar; se permite average o none.</translation>
    </message>
    <message>
        <source>%1 is %2, but with %3 data there is one model and nothing to merge.</source>
        <translation>%1 es %2, pero con %3 data hay un solo modelo y nada que fusionar.</translation>
    </message>
    <message>
        <source>%1 cannot change from %2 to %3 in a run that has begun: it defines its chunks or its weights. Start a new run instead.</source>
        <translation>%1 no puede cambiar de %2 a %3 en una ejecución que ha empezado: define sus fragmentos o sus pesos. Inicie una ejecución nueva.</translation>
    </message>
    <message>
        <source>The weights of the run did not grow from it.</source>
        <translation>Los pesos de la ejecución no proceden de él.</translation>
    </message>
    <message>
        <source>1 chunk not prepared yet</source>
        <translation>1 fragmento aún sin preparar</translation>
    </message>
    <message>
        <source>%1 chunks not prepared yet</source>
        <translation>%1 fragmentos aún sin preparar</translation>
    </message>
    <message>
        <source>1 chunk free</source>
        <translation>1 fragmento libre</translation>
    </message>
    <message>
        <source>%1 chunks free</source>
        <translation>%1 fragmentos libres</translation>
    </message>
    <message>
        <source>1 chunk leased</source>
        <translation>1 fragmento reservado</translation>
    </message>
    <message>
        <source>%1 chunks leased</source>
        <translation>%1 fragmentos reservados</translation>
    </message>
    <message>
        <source>1 chunk trained, not in a checkpoint yet</source>
        <translation>1 fragmento entrenado, aún sin punto de control</translation>
    </message>
    <message>
        <source>%1 chunks trained, not in a checkpoint yet</source>
        <translation>%1 fragmentos entrenados, aún sin punto de control</translation>
    </message>
    <message>
        <source>1 chunk poisoned: accept or retry</source>
        <translation>1 fragmento envenenado: acéptelo o inténtelo de nuevo</translation>
    </message>
    <message>
        <source>%1 chunks poisoned: accept or retry</source>
        <translation>%1 fragmentos envenenados: acéptelos o inténtelo de nuevo</translation>
    </message>
    <message>
        <source>last block not proven</source>
        <translation>último bloque sin confirmar</translation>
    </message>
    <message>
        <source>last block not proven because %1</source>
        <translation>último bloque sin confirmar porque %1</translation>
    </message>
    <message>
        <source>any number of epochs</source>
        <translation>cualquier número de épocas</translation>
    </message>
    <message>
        <source>1 epoch</source>
        <translation>1 época</translation>
    </message>
    <message>
        <source>%1 epochs</source>
        <translation>%1 épocas</translation>
    </message>
    <message>
        <source>%1 blocks, %2</source>
        <translation>%1 bloques, %2</translation>
    </message>
    <message>
        <source>%1 tokens, %2</source>
        <translation>%1 tokens, %2</translation>
    </message>
    <message>
        <source>%1 steps, %2</source>
        <translation>%1 pasos, %2</translation>
    </message>
    <message>
        <source>%1 hours, %2</source>
        <translation>%1 horas, %2</translation>
    </message>
    <message>
        <source>merged</source>
        <translation>fusionado</translation>
    </message>
    <message>
        <source>block %1 (epoch %2) is not marked as its chunks say</source>
        <translation>el bloque %1 (época %2) no está marcado como dicen sus fragmentos</translation>
    </message>
    <message>
        <source>%1 is held by worker process %2, which would overlook it</source>
        <translation>%1 está en manos del proceso de trabajo %2, que lo pasaría por alto</translation>
    </message>
    <message>
        <source>checkpoint %1 has parts of claims that it does not name</source>
        <translation>el punto de control %1 tiene partes de reservas que no nombra</translation>
    </message>
    <message>
        <source>cannot open the lock file %1</source>
        <translation>no se puede abrir el archivo de bloqueo %1</translation>
    </message>
    <message>
        <source>%1 is locked by another process</source>
        <translation>%1 está bloqueado por otro proceso</translation>
    </message>
    <message>
        <source>cannot lock %1</source>
        <translation>no se puede bloquear %1</translation>
    </message>
    <message>
        <source>%1 has %2; at most %3 are accepted here</source>
        <translation>%1 tiene %2; aquí se aceptan como mucho %3</translation>
    </message>
    <message>
        <source>cannot ask for the free space at %1</source>
        <translation>no se puede consultar el espacio libre en %1</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is a folder that %2 synchronises, which copies a live database piece by piece and damages it</source>
        <translation>«%1» es una carpeta que %2 sincroniza, lo que copia a trozos una base de datos en uso y la daña</translation>
    </message>
    <message>
        <source>it or its folder does not exist</source>
        <translation>no existe, o no existe su carpeta</translation>
    </message>
    <message>
        <source>the disk is full; free some space and try again</source>
        <translation>el disco está lleno; libere espacio e inténtelo de nuevo</translation>
    </message>
    <message>
        <source>your disk quota is used up; free some space and try again</source>
        <translation>su cuota de disco está agotada; libere espacio e inténtelo de nuevo</translation>
    </message>
    <message>
        <source>permission denied; change the rights or choose another place</source>
        <translation>permiso denegado; cambie los permisos o elija otro lugar</translation>
    </message>
    <message>
        <source>the file system is read-only; choose another place</source>
        <translation>el sistema de archivos es de solo lectura; elija otro lugar</translation>
    </message>
    <message>
        <source>too many open files; raise the limit (ulimit -n)</source>
        <translation>demasiados archivos abiertos; suba el límite (ulimit -n)</translation>
    </message>
    <message>
        <source>it is a folder</source>
        <translation>es una carpeta</translation>
    </message>
    <message>
        <source>the name is taken</source>
        <translation>el nombre ya está ocupado</translation>
    </message>
    <message>
        <source>cannot write %1</source>
        <translation>no se puede escribir %1</translation>
    </message>
    <message>
        <source>cannot sync %1</source>
        <translation>no se puede sincronizar %1 con el disco</translation>
    </message>
    <message>
        <source>cannot close %1</source>
        <translation>no se puede cerrar %1</translation>
    </message>
    <message>
        <source>cannot create the folder %1</source>
        <translation>no se puede crear la carpeta %1</translation>
    </message>
    <message>
        <source>cannot open the folder %1</source>
        <translation>no se puede abrir la carpeta %1</translation>
    </message>
    <message>
        <source>cannot sync the folder %1</source>
        <translation>no se puede sincronizar la carpeta %1 con el disco</translation>
    </message>
    <message>
        <source>cannot remove %1</source>
        <translation>no se puede eliminar %1</translation>
    </message>
    <message>
        <source>cannot rename %1 to %2</source>
        <translation>no se puede cambiar el nombre de %1 a %2</translation>
    </message>
    <message>
        <source>it lies on a network or synchronised file system (%1), where locks and syncs do not hold</source>
        <translation>está en un sistema de archivos de red o sincronizado (%1), donde los bloqueos y las sincronizaciones no son fiables</translation>
    </message>
    <message>
        <source>it lies on a network file system (%1), where locks do not hold</source>
        <translation>está en un sistema de archivos de red (%1), donde los bloqueos no son fiables</translation>
    </message>
    <message>
        <source>it lies on a FAT file system, which can lose a whole file when the power fails</source>
        <translation>está en un sistema de archivos FAT, que puede perder un archivo entero si falla la corriente</translation>
    </message>
    <message>
        <source>cannot read %1</source>
        <translation>no se puede leer %1</translation>
    </message>
    <message>
        <source>it is not a regular file</source>
        <translation>no es un archivo normal</translation>
    </message>
    <message>
        <source>%1 ends at byte %2, before what should be read; it was cut short</source>
        <translation>%1 termina en el byte %2, antes de lo que hay que leer; está cortado</translation>
    </message>
    <message>
        <source>the disk is read-only; choose another place</source>
        <translation>el disco es de solo lectura; elija otro lugar</translation>
    </message>
    <message>
        <source>another program has it open; close that program and try again</source>
        <translation>otro programa lo tiene abierto; ciérrelo e inténtelo de nuevo</translation>
    </message>
    <message>
        <source>it lies on a network drive, where locks do not hold</source>
        <translation>está en una unidad de red, donde los bloqueos no son fiables</translation>
    </message>
    <message>
        <source>cannot start %1</source>
        <translation>no se puede iniciar %1</translation>
    </message>
    <message>
        <source>cannot start %1 in %2</source>
        <translation>no se puede iniciar %1 en %2</translation>
    </message>
    <message>
        <source>There is no preset &apos;%1&apos;. Known are %2.</source>
        <translation>No hay ningún preajuste «%1». Los conocidos son %2.</translation>
    </message>
    <message>
        <source>The cache cannot write its size to %1. Check whether its disk is full or the file belongs to somebody else.</source>
        <translation>La caché no puede escribir su tamaño en %1. Compruebe si el disco está lleno o si el archivo es de otra persona.</translation>
    </message>
    <message>
        <source>The cache %1 is full: its cap is %2, %3 of it are needed by running runs and %4 more are to be written. Raise cache_gib.</source>
        <translation>La caché %1 está llena: su tope es %2, las ejecuciones en marcha necesitan %3 y hay que escribir %4 más. Suba cache_gib.</translation>
    </message>
    <message>
        <source>Checking the cache was cancelled.</source>
        <translation>La comprobación de la caché se canceló.</translation>
    </message>
    <message>
        <source>%1 does not exist.</source>
        <translation>%1 no existe.</translation>
    </message>
    <message>
        <source>%1 is not a file that can be read.</source>
        <translation>%1 no es un archivo que se pueda leer.</translation>
    </message>
    <message>
        <source>%1 has %2 bytes, had %3.</source>
        <translation>%1 tiene %2 bytes, antes %3.</translation>
    </message>
    <message>
        <source>%1 has other content than when the run was made.</source>
        <translation>%1 no tiene el mismo contenido que cuando se creó la ejecución.</translation>
    </message>
    <message>
        <source>%1 was written at %2, after the run was made (%3).</source>
        <translation>%1 se escribió el %2, después de crear la ejecución (%3).</translation>
    </message>
    <message>
        <source>The data manifest of this run has version %1; this Furrow reads up to %2. Use a newer one.</source>
        <translation>El manifiesto de datos de esta ejecución tiene la versión %1; este Furrow lee hasta la %2. Use uno más reciente.</translation>
    </message>
    <message>
        <source>1 file</source>
        <translation>1 archivo</translation>
    </message>
    <message>
        <source>%1 files</source>
        <translation>%1 archivos</translation>
    </message>
    <message>
        <source>%1 expands more than %2 times (%3 out of %4), which looks like a decompression bomb. Unpack it yourself if it is meant so.</source>
        <translation>%1 se expande más de %2 veces (%3 a partir de %4), lo que parece una bomba de descompresión. Descomprímalo usted mismo si es intencionado.</translation>
    </message>
    <message>
        <source>%1 ends in the middle of its compressed data, after %2 of text. It is cut off: fetch or write it again.</source>
        <translation>%1 termina a mitad de sus datos comprimidos, tras %2 de texto. Está cortado: descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1 has damaged compressed data after %2 of text (%3). Fetch or write it again.</source>
        <translation>%1 tiene datos comprimidos dañados tras %2 de texto (%3). Descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>The evaluation text %1 has no sample that passes the filters of the run.</source>
        <translation>El texto de evaluación %1 no tiene ninguna muestra que pase los filtros de la ejecución.</translation>
    </message>
    <message>
        <source>The evaluation set %1 has version %2. Use the Furrow that wrote it.</source>
        <translation>El conjunto de evaluación %1 tiene la versión %2. Use el Furrow que lo escribió.</translation>
    </message>
    <message>
        <source>Reading %1 was stopped.</source>
        <translation>Se detuvo la lectura de %1.</translation>
    </message>
    <message>
        <source>%1 answered with more than 64 MiB where a list was expected.</source>
        <translation>%1 respondió con más de 64 MiB donde se esperaba una lista.</translation>
    </message>
    <message>
        <source>HF_HUB_OFFLINE is set, so the hub is not asked. Unset it, or use data that is on this machine.</source>
        <translation>HF_HUB_OFFLINE está definida, así que no se consulta el hub. Quítela o use datos que estén en este equipo.</translation>
    </message>
    <message>
        <source>%1. Check the network; https_proxy names a proxy, HF_ENDPOINT a mirror of the hub.</source>
        <translation>%1. Compruebe la red; https_proxy indica un proxy y HF_ENDPOINT un espejo del hub.</translation>
    </message>
    <message>
        <source>%1 redirects in a circle.</source>
        <translation>%1 redirige en círculo.</translation>
    </message>
    <message>
        <source>%1 has no such revision.</source>
        <translation>%1 no tiene esa revisión.</translation>
    </message>
    <message>
        <source>%1 does not exist, or is private: set HF_TOKEN to a token that may read it.</source>
        <translation>%1 no existe o es privado: ponga en HF_TOKEN un token que pueda leerlo.</translation>
    </message>
    <message>
        <source>%1 does not have what was asked for (404).</source>
        <translation>%1 no tiene lo que se pidió (404).</translation>
    </message>
    <message>
        <source>%1: the hub answered %2.</source>
        <translation>%1: el hub respondió %2.</translation>
    </message>
    <message>
        <source>hf://%1: the hub&apos;s answer names no commit.</source>
        <translation>hf://%1: la respuesta del hub no nombra ningún commit.</translation>
    </message>
    <message>
        <source>hf://%1: the hub&apos;s list of files cannot be read.</source>
        <translation>hf://%1: no se puede leer la lista de archivos del hub.</translation>
    </message>
    <message>
        <source>hf://%1 redirects in a circle.</source>
        <translation>hf://%1 redirige en círculo.</translation>
    </message>
    <message>
        <source>%1 is another file on the hub than in its list; try again later.</source>
        <translation>%1 no es en el hub el mismo archivo que figura en su lista; inténtelo más tarde.</translation>
    </message>
    <message>
        <source>%1 is shorter than the hub&apos;s list says.</source>
        <translation>%1 es más corto de lo que dice la lista del hub.</translation>
    </message>
    <message>
        <source>%1: the server does not send the part of the file that was asked for.</source>
        <translation>%1: el servidor no envía la parte del archivo que se pidió.</translation>
    </message>
    <message>
        <source>%1 arrived with other bytes than the hub&apos;s list promises (SHA-256). Try again; if it stays so, the repository or a mirror is damaged.</source>
        <translation>%1 llegó con bytes distintos de los que promete la lista del hub (SHA-256). Inténtelo de nuevo; si sigue igual, el repositorio o un espejo está dañado.</translation>
    </message>
    <message>
        <source>%1 arrived with other bytes than the hub&apos;s list promises (git&apos;s SHA-1). Try again; if it stays so, the repository or a mirror is damaged.</source>
        <translation>%1 llegó con bytes distintos de los que promete la lista del hub (SHA-1 de git). Inténtelo de nuevo; si sigue igual, el repositorio o un espejo está dañado.</translation>
    </message>
    <message>
        <source>%1: %2 of its files were looked at; the other %3 are taken to have the encoding and dialect of those before them. Name these in the settings if that is not so (--encoding, --csv-delimiter).</source>
        <translation>%1: se examinaron %2 de sus archivos; de los otros %3 se supone que tienen la codificación y el dialecto de los anteriores. Indíquelos en los ajustes si no es así (--encoding, --csv-delimiter).</translation>
    </message>
    <message>
        <source>%1 ends before the bytes that were asked for.</source>
        <translation>%1 termina antes de los bytes que se pidieron.</translation>
    </message>
    <message>
        <source>The data manifest of this run names a file of the hub in a form that cannot be read.</source>
        <translation>El manifiesto de datos de esta ejecución nombra un archivo del hub de una forma que no se puede leer.</translation>
    </message>
    <message>
        <source>hf://%1 has no config &apos;%2&apos;. It has: %3.</source>
        <translation>hf://%1 no tiene la configuración «%2». Tiene: %3.</translation>
    </message>
    <message>
        <source>hf://%1 has several configs; name one, as in hf://%2:%3. It has: %4.</source>
        <translation>hf://%1 tiene varias configuraciones; nombre una, como en hf://%2:%3. Tiene: %4.</translation>
    </message>
    <message>
        <source>%1: %2 The form is %3.</source>
        <translation>%1: %2 La forma es %3.</translation>
    </message>
    <message>
        <source>it does not begin with hf://.</source>
        <translation>no empieza por hf://.</translation>
    </message>
    <message>
        <source>the revision is not a name.</source>
        <translation>la revisión no es un nombre.</translation>
    </message>
    <message>
        <source>it has too many parts.</source>
        <translation>tiene demasiadas partes.</translation>
    </message>
    <message>
        <source>the repository is not owner/name.</source>
        <translation>el repositorio no es propietario/nombre.</translation>
    </message>
    <message>
        <source>hf://%1:%2 has no split &apos;%3&apos;. It has: %4.</source>
        <translation>hf://%1:%2 no tiene la partición «%3». Tiene: %4.</translation>
    </message>
    <message>
        <source>hf://%1:%2:%3 names no file that is there.</source>
        <translation>hf://%1:%2:%3 no nombra ningún archivo existente.</translation>
    </message>
    <message>
        <source>Looking at the data was cancelled.</source>
        <translation>Se canceló la revisión de los datos.</translation>
    </message>
    <message>
        <source>%1 is empty.</source>
        <translation>%1 está vacío.</translation>
    </message>
    <message>
        <source>%1 has no file with text.</source>
        <translation>%1 no tiene ningún archivo con texto.</translation>
    </message>
    <message>
        <source>%1 has no file with text. %2</source>
        <translation>%1 no tiene ningún archivo con texto. %2</translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>unas %1</translation>
    </message>
    <message>
        <source>No data is chosen. Name a file, a folder, a pattern or hf://owner/name.</source>
        <translation>No se han elegido datos. Indique un archivo, una carpeta, un patrón o hf://propietario/nombre.</translation>
    </message>
    <message>
        <source>%1 has no rows after start_sample.</source>
        <translation>%1 no tiene filas después de start_sample.</translation>
    </message>
    <message>
        <source>%1 has no rows.</source>
        <translation>%1 no tiene filas.</translation>
    </message>
    <message>
        <source>%1 cannot be read as Parquet (%2). Fetch or write it again.</source>
        <translation>%1 no se puede leer como Parquet (%2). Descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1: the column &apos;%2&apos; holds no text.</source>
        <translation>%1: la columna «%2» no contiene texto.</translation>
    </message>
    <message>
        <source>%1 has no column &apos;%2&apos;.</source>
        <translation>%1 no tiene la columna «%2».</translation>
    </message>
    <message>
        <source>%1 is a Parquet file, and this Furrow was built without Parquet. Convert it to jsonl, or build with FURROW_WITH_PARQUET=ON.</source>
        <translation>%1 es un archivo Parquet y este Furrow se compiló sin Parquet. Conviértalo a jsonl o compile con FURROW_WITH_PARQUET=ON.</translation>
    </message>
    <message>
        <source>%1 has a first line of more than 16 MiB where the names of the columns should be.</source>
        <translation>%1 tiene una primera línea de más de 16 MiB donde deberían estar los nombres de las columnas.</translation>
    </message>
    <message>
        <source>%1: the column &apos;%2&apos; holds no text. Columns with text are: %3.</source>
        <translation>%1: la columna «%2» no contiene texto. Las columnas con texto son: %3.</translation>
    </message>
    <message>
        <source>%1 has no column &apos;%2&apos;. Its columns are: %3.</source>
        <translation>%1 no tiene la columna «%2». Sus columnas son: %3.</translation>
    </message>
    <message>
        <source>%1 has no column with text. Its columns are: %2.</source>
        <translation>%1 no tiene ninguna columna con texto. Sus columnas son: %2.</translation>
    </message>
    <message>
        <source>The folder %1 cannot be opened (%2).</source>
        <translation>No se puede abrir la carpeta %1 (%2).</translation>
    </message>
    <message>
        <source>The folder %1 cannot be read (%2).</source>
        <translation>No se puede leer la carpeta %1 (%2).</translation>
    </message>
    <message>
        <source>%1 is a link out of the folder; name its target as a source of its own if it is meant.</source>
        <translation>%1 es un enlace que sale de la carpeta; indique su destino como una fuente propia si es lo que quiere.</translation>
    </message>
    <message>
        <source>%1 has more than %2 files. Name a smaller folder, or join the files.</source>
        <translation>%1 tiene más de %2 archivos. Indique una carpeta más pequeña o una los archivos.</translation>
    </message>
    <message>
        <source>The pattern names more than %1 files.</source>
        <translation>El patrón nombra más de %1 archivos.</translation>
    </message>
    <message>
        <source>No file matches %1.</source>
        <translation>Ningún archivo coincide con %1.</translation>
    </message>
    <message>
        <source>The folder %1 has no file with text.</source>
        <translation>La carpeta %1 no tiene ningún archivo con texto.</translation>
    </message>
    <message>
        <source>%1 cannot be opened (%2).</source>
        <translation>No se puede abrir %1 (%2).</translation>
    </message>
    <message>
        <source>%1 is not a file or folder that can be read.</source>
        <translation>%1 no es un archivo ni una carpeta que se pueda leer.</translation>
    </message>
    <message>
        <source>the text has no characters to make a character tokenizer of; use the tokenizer byte</source>
        <translation>el texto no tiene caracteres con los que hacer un tokenizador de caracteres; use el tokenizador byte</translation>
    </message>
    <message>
        <source>character tokenizer: %1</source>
        <translation>tokenizador de caracteres: %1</translation>
    </message>
    <message>
        <source>the tokenizer char is made from the data of a run; to load a saved one give char:PATH</source>
        <translation>el tokenizador char se hace con los datos de una ejecución; para cargar uno guardado indique char:RUTA</translation>
    </message>
    <message>
        <source>devices names &apos;%1&apos;, which is not on this machine. It has no GPU; &apos;cpu:2&apos; trains on the CPU.</source>
        <translation>devices nombra «%1», que no está en este equipo. No tiene GPU; «cpu:2» entrena en la CPU.</translation>
    </message>
    <message>
        <source>devices names &apos;%1&apos;, which is not on this machine. It has %2.</source>
        <translation>devices nombra «%1», que no está en este equipo. Tiene %2.</translation>
    </message>
    <message>
        <source>parallel is data, which splits each step over at least two workers, but there is one (%1). Name more devices, or set parallel to independent.</source>
        <translation>parallel es data, que reparte cada paso entre al menos dos trabajadores, pero hay uno (%1). Indique más dispositivos o ponga parallel en independent.</translation>
    </message>
    <message>
        <source>workers is %1, but the number of GPUs in devices is %2: one worker trains on one GPU.</source>
        <translation>workers es %1, pero el número de GPU en devices es %2: un trabajador entrena en una GPU.</translation>
    </message>
    <message>
        <source>init_from: the run in %1 has no checkpoint %2 in its tracker; `furrowctl eval` and the console list those it has.</source>
        <translation>init_from: la ejecución en %1 no tiene el punto de control %2 en su registro; `furrowctl eval` y la consola muestran los que tiene.</translation>
    </message>
    <message>
        <source>parent_chunks is skip, but checkpoint %1 has just ended a pass over this data: nothing of a new one is trained yet. Use parent_chunks=again.</source>
        <translation>parent_chunks es skip, pero el punto de control %1 acaba de terminar una pasada por estos datos: aún no se ha entrenado nada de una nueva. Use parent_chunks=again.</translation>
    </message>
    <message>
        <source>parent_chunks is skip, but init_from names no checkpoint of a run. Give --init-from RUN/checkpoints/NAME, or leave parent_chunks at again.</source>
        <translation>parent_chunks es skip, pero init_from no nombra ningún punto de control de una ejecución. Indique --init-from EJECUCIÓN/checkpoints/NOMBRE o deje parent_chunks en again.</translation>
    </message>
    <message>
        <source>tokenizer is %1, but the weights of init_from were trained with another one. Use --tokenizer %2.</source>
        <translation>tokenizer es %1, pero los pesos de init_from se entrenaron con otro. Use --tokenizer %2.</translation>
    </message>
    <message>
        <source>parent_chunks is skip, but the run of init_from was trained on other data or cut it into other chunks (data, chunk_samples, chunk_bytes, samples_per_block and seq_len must be the same). Use parent_chunks=again.</source>
        <translation>parent_chunks es skip, pero la ejecución de init_from se entrenó con otros datos o los cortó en otros fragmentos (data, chunk_samples, chunk_bytes, samples_per_block y seq_len deben ser iguales). Use parent_chunks=again.</translation>
    </message>
    <message>
        <source>tokenizer is char, which reads all data to find its characters; %1 is too much for that. Use byte or gpt2.</source>
        <translation>tokenizer es char, que lee todos los datos para hallar sus caracteres; %1 es demasiado para eso. Use byte o gpt2.</translation>
    </message>
    <message>
        <source>tokenizer is char, but the data has more than %1 different characters. Use byte or gpt2.</source>
        <translation>tokenizer es char, pero los datos tienen más de %1 caracteres distintos. Use byte o gpt2.</translation>
    </message>
    <message>
        <source>%1 is a run already. &apos;furrowctl resume&apos; goes on with it; for a new run name another folder.</source>
        <translation>%1 ya es una ejecución. «furrowctl resume» la continúa; para una ejecución nueva indique otra carpeta.</translation>
    </message>
    <message>
        <source>%1 is not empty. Name a new folder for the run.</source>
        <translation>%1 no está vacía. Indique una carpeta nueva para la ejecución.</translation>
    </message>
    <message>
        <source>%1 cannot hold a training run: %2</source>
        <translation>%1 no puede contener una ejecución de entrenamiento: %2</translation>
    </message>
    <message>
        <source>No sample of the data passes the filters: %1.</source>
        <translation>Ninguna muestra de los datos pasa los filtros: %1.</translation>
    </message>
    <message>
        <source>all data together</source>
        <translation>todos los datos juntos</translation>
    </message>
    <message>
        <source>a chunk of %1 samples</source>
        <translation>un fragmento de %1 muestras</translation>
    </message>
    <message>
        <source>%1 is not the tokenizer this run began with. Put the original file back.</source>
        <translation>%1 no es el tokenizador con el que empezó esta ejecución. Restaure el archivo original.</translation>
    </message>
    <message>
        <source>run.json was edited: %1 is %2, the run began with %3. Its chunks and weights were made with that; put it back, or start a new run.</source>
        <translation>run.json fue editado: %1 es %2, la ejecución empezó con %3. Sus fragmentos y pesos se hicieron con eso; restáurelo o inicie una ejecución nueva.</translation>
    </message>
    <message>
        <source>run.json was edited: %1 is %2, the run began with %3. Put it back; what may change is changed with &apos;furrowctl resume %4&apos;, which keeps what was before.</source>
        <translation>run.json fue editado: %1 es %2, la ejecución empezó con %3. Restáurelo; lo que puede cambiar se cambia con «furrowctl resume %4», que conserva lo anterior.</translation>
    </message>
    <message>
        <source>Nothing can be changed in %1 from here: %2. Use Furrow on the computer that trains it.</source>
        <translation>Desde aquí no se puede cambiar nada en %1: %2. Use Furrow en el equipo que la entrena.</translation>
    </message>
    <message>
        <source>%1 is not running. &apos;furrowctl status&apos; says how it ended.</source>
        <translation>%1 no está en marcha. «furrowctl status» dice cómo terminó.</translation>
    </message>
    <message>
        <source>The run has no checkpoint %1.</source>
        <translation>La ejecución no tiene el punto de control %1.</translation>
    </message>
    <message>
        <source>%1 was removed by the keep policy.</source>
        <translation>%1 fue eliminado por la política de conservación.</translation>
    </message>
    <message>
        <source>%1 is not in the lineage of the weights any more; start a new run from it instead (--init-from).</source>
        <translation>%1 ya no está en el linaje de los pesos; inicie desde él una ejecución nueva (--init-from).</translation>
    </message>
    <message>
        <source>%1 is damaged.</source>
        <translation>%1 está dañado.</translation>
    </message>
    <message>
        <source>the supervisor ended before it held the run; see %1</source>
        <translation>el supervisor terminó antes de hacerse cargo de la ejecución; vea %1</translation>
    </message>
    <message>
        <source>the supervisor did not take the run within 30 seconds; see %1</source>
        <translation>el supervisor no se hizo cargo de la ejecución en 30 segundos; vea %1</translation>
    </message>
    <message>
        <source>%1 is already running, held by process %2. Stop it first.</source>
        <translation>%1 ya está en marcha, a cargo del proceso %2. Deténgala antes.</translation>
    </message>
    <message>
        <source>%1 is already running. Stop it first.</source>
        <translation>%1 ya está en marcha. Deténgala antes.</translation>
    </message>
    <message>
        <source>%1 was never started, so there is nothing to accept.</source>
        <translation>%1 no se inició nunca, así que no hay nada que aceptar.</translation>
    </message>
    <message>
        <source>The merge was stopped. The replicas are kept as they are; a resume merges them.</source>
        <translation>La fusión se detuvo. Las réplicas quedan como están; al reanudar se fusionan.</translation>
    </message>
    <message>
        <source>%1 cannot be used: %2</source>
        <translation>%1 no se puede usar: %2</translation>
    </message>
    <message>
        <source>it is not the run.json of a Furrow run.</source>
        <translation>no es el run.json de una ejecución de Furrow.</translation>
    </message>
    <message>
        <source>%1 was made by Furrow %2 (format %3). This is %4, which reads format 1; use the newer program.</source>
        <translation>%1 lo hizo Furrow %2 (formato %3). Este es %4, que lee el formato 1; use el programa más reciente.</translation>
    </message>
    <message>
        <source>%1 is not a run: it has no run.json.</source>
        <translation>%1 no es una ejecución: no tiene run.json.</translation>
    </message>
    <message>
        <source>%1 holds no telemetry: the run was never started.</source>
        <translation>%1 no contiene telemetría: la ejecución no se inició nunca.</translation>
    </message>
    <message>
        <source>%1 is not empty. Name a new folder for the export.</source>
        <translation>%1 no está vacía. Indique una carpeta nueva para la exportación.</translation>
    </message>
    <message>
        <source>the tracker %1 is damaged (%2); `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove</source>
        <translation>el registro %1 está dañado (%2); `furrowctl doctor %3 --repair` reconstruye lo que prueban los puntos de control</translation>
    </message>
    <message>
        <source>the disk is full: %1 could not be written; free some space and resume</source>
        <translation>el disco está lleno: no se pudo escribir %1; libere espacio y reanude</translation>
    </message>
    <message>
        <source>%1: reading or writing failed (%2); check the disk</source>
        <translation>%1: falló la lectura o la escritura (%2); compruebe el disco</translation>
    </message>
    <message>
        <source>%1 exists already</source>
        <translation>%1 ya existe</translation>
    </message>
    <message>
        <source>the tracker %1 lacks &apos;%2&apos;; `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove</source>
        <translation>al registro %1 le falta «%2»; `furrowctl doctor %3 --repair` reconstruye lo que prueban los puntos de control</translation>
    </message>
    <message>
        <source>%1 cannot be changed from here: %2; do that on the computer that trains the run</source>
        <translation>%1 no se puede cambiar desde aquí: %2; hágalo en el equipo que entrena la ejecución</translation>
    </message>
    <message>
        <source>%1 is not a tracker of Furrow, or was never finished; `furrowctl doctor %2 --repair` rebuilds what the checkpoints prove</source>
        <translation>%1 no es un registro de Furrow, o nunca se terminó; `furrowctl doctor %2 --repair` reconstruye lo que prueban los puntos de control</translation>
    </message>
    <message>
        <source>%1 was written with tracker version %2, this Furrow reads up to version %3; open the run with a newer Furrow</source>
        <translation>%1 se escribió con la versión %2 del registro, este Furrow lee hasta la %3; abra la ejecución con un Furrow más reciente</translation>
    </message>
    <message>
        <source>%1 has tracker version %2, which this Furrow cannot bring to version %3</source>
        <translation>%1 tiene la versión %2 del registro, que este Furrow no puede llevar a la %3</translation>
    </message>
    <message>
        <source>a stopping rule cannot be negative</source>
        <translation>una regla de parada no puede ser negativa</translation>
    </message>
    <message>
        <source>a run cannot live in %1: %2</source>
        <translation>una ejecución no puede estar en %1: %2</translation>
    </message>
    <message>
        <source>%1 is being trained; it can be left out when the run is stopped</source>
        <translation>%1 se está entrenando; se puede omitir cuando la ejecución esté detenida</translation>
    </message>
    <message>
        <source>%1 is %2, not poisoned</source>
        <translation>%1 está en estado %2, no envenenado</translation>
    </message>
    <message>
        <source>%1 could not be replaced: %2</source>
        <translation>no se pudo reemplazar %1: %2</translation>
    </message>
    <message>
        <source>there is no checkpoint %1</source>
        <translation>no hay ningún punto de control %1</translation>
    </message>
    <message>
        <source>there is no %1</source>
        <translation>no hay %1</translation>
    </message>
    <message>
        <source>%1 was removed by the keep policy</source>
        <translation>%1 fue eliminado por la política de conservación</translation>
    </message>
    <message>
        <source>%1 is damaged</source>
        <translation>%1 está dañado</translation>
    </message>
    <message>
        <source>%1 is not in the lineage of the weights any more</source>
        <translation>%1 ya no está en el linaje de los pesos</translation>
    </message>
    <message>
        <source>workers are alive; a run goes back only while nobody trains it</source>
        <translation>hay trabajadores vivos; una ejecución solo retrocede mientras nadie la entrena</translation>
    </message>
    <message>
        <source>%1 is the newest of a replica or the base of new ones and must stay</source>
        <translation>%1 es el más reciente de una réplica o la base de otros nuevos y debe conservarse</translation>
    </message>
    <message>
        <source>%1 is pinned</source>
        <translation>%1 está fijado</translation>
    </message>
    <message>
        <source>there is no checkpoint %1 with files</source>
        <translation>no hay ningún punto de control %1 con archivos</translation>
    </message>
    <message>
        <source>checkpoint %1 was written by a newer Furrow; this one reads state format 1.</source>
        <translation>el punto de control %1 lo escribió un Furrow más reciente; este lee el formato de estado 1.</translation>
    </message>
    <message>
        <source>there is no held-out text to evaluate on; set held_out_percent above 0 in a new run, or name a file with --data</source>
        <translation>no hay texto reservado con el que evaluar; ponga held_out_percent por encima de 0 en una ejecución nueva o indique un archivo con --data</translation>
    </message>
    <message>
        <source>the evaluation was interrupted</source>
        <translation>la evaluación se interrumpió</translation>
    </message>
    <message>
        <source>there is nothing to merge</source>
        <translation>no hay nada que fusionar</translation>
    </message>
    <message>
        <source>checkpoint %1 does not fit %2: %3</source>
        <translation>el punto de control %1 no encaja con %2: %3</translation>
    </message>
    <message>
        <source>checkpoint %1 cannot be merged: its tensor %2 has NaN or Inf. Go back to an earlier checkpoint of this replica.</source>
        <translation>el punto de control %1 no se puede fusionar: su tensor %2 tiene NaN o Inf. Vuelva a un punto de control anterior de esta réplica.</translation>
    </message>
    <message>
        <source>the base of this merge lacks the tensor %1: its members do not grow from it</source>
        <translation>a la base de esta fusión le falta el tensor %1: sus miembros no proceden de ella</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is in the saved weights, but ema_decay is 0 here</source>
        <translation>el tensor «%1» está en los pesos guardados, pero aquí ema_decay es 0</translation>
    </message>
    <message>
        <source>There is no device &apos;%1&apos; here, only cpu: %2.</source>
        <translation>Aquí no hay ningún dispositivo «%1», solo cpu: %2.</translation>
    </message>
    <message>
        <source>There is no device &apos;%1&apos; here. What there is: %2.</source>
        <translation>Aquí no hay ningún dispositivo «%1». Lo que hay: %2.</translation>
    </message>
    <message>
        <source>%1 ran out of memory in a step of %2 windows of %3 tokens; at most %4 were in use. Lower batch_size (and raise grad_accum to keep the step as large), or lower seq_len or width. What was said: %5</source>
        <translation>%1 se quedó sin memoria en un paso de %2 ventanas de %3 tokens; como mucho se usaban %4. Baje batch_size (y suba grad_accum para mantener el tamaño del paso), o baje seq_len o width. Mensaje recibido: %5</translation>
    </message>
    <message>
        <source>%1 ran out of memory in a step of %2 windows of %3 tokens; at most %4 were in use. Lower batch_size (and raise grad_accum to keep the step as large), turn recompute on, or lower seq_len or width. What was said: %5</source>
        <translation>%1 se quedó sin memoria en un paso de %2 ventanas de %3 tokens; como mucho se usaban %4. Baje batch_size (y suba grad_accum para mantener el tamaño del paso), active recompute, o baje seq_len o width. Mensaje recibido: %5</translation>
    </message>
    <message>
        <source>The merge was stopped. The replicas are kept as they are.</source>
        <translation>La fusión se detuvo. Las réplicas quedan como están.</translation>
    </message>
    <message>
        <source>the base %1 of this merge is not in the tracker</source>
        <translation>la base %1 de esta fusión no está en el registro</translation>
    </message>
    <message>
        <source>No replica has weights that can be merged. %1</source>
        <translation>Ninguna réplica tiene pesos que se puedan fusionar. %1</translation>
    </message>
    <message>
        <source>%1 was never started. Start it with &apos;furrowctl resume&apos;.</source>
        <translation>%1 no se inició nunca. Iníciela con «furrowctl resume».</translation>
    </message>
    <message>
        <source>the tracker has no checkpoint %1</source>
        <translation>el registro no tiene el punto de control %1</translation>
    </message>
    <message>
        <source>the tracker names checkpoint %1 as the head of replica %2 and has no row of it</source>
        <translation>el registro nombra el punto de control %1 como cabeza de la réplica %2 y no tiene su fila</translation>
    </message>
    <message>
        <source>checkpoint %1 was made by the %2 learner, this worker was started with the %3 one</source>
        <translation>el punto de control %1 lo hizo el modelo %2; este trabajador se inició con %3</translation>
    </message>
    <message>
        <source>Name the folder to make with --out.</source>
        <translation>Indique con --out la carpeta que se debe crear.</translation>
    </message>
    <message>
        <source>the counting model cannot be exported</source>
        <translation>el modelo contador no se puede exportar</translation>
    </message>
    <message>
        <source>%1 is being trained; it merges by itself. Stop it first to merge by hand.</source>
        <translation>%1 se está entrenando; se fusiona por sí misma. Deténgala antes para fusionar a mano.</translation>
    </message>
    <message>
        <source>--checkpoints needs two or more folder names, joined by commas.</source>
        <translation>--checkpoints necesita dos o más nombres de carpeta, separados por comas.</translation>
    </message>
    <message>
        <source>the run has no checkpoint &apos;%1&apos;</source>
        <translation>la ejecución no tiene el punto de control «%1»</translation>
    </message>
    <message>
        <source>%1 and %2 do not grow from one base; an average of them would be garbage</source>
        <translation>%1 y %2 no proceden de una misma base; su media no tendría sentido</translation>
    </message>
    <message>
        <source>method is &apos;%1&apos;, allowed is one of average, diloco.</source>
        <translation>method es «%1»; se permite average o diloco.</translation>
    </message>
    <message>
        <source>the counting model writes no text</source>
        <translation>el modelo contador no escribe texto</translation>
    </message>
    <message>
        <source>checkpoint %1 was removed by the keep policy.</source>
        <translation>el punto de control %1 fue eliminado por la política de conservación.</translation>
    </message>
    <message>
        <source>The run has no checkpoint &apos;%1&apos;. They are the folders in %2.</source>
        <translation>La ejecución no tiene el punto de control «%1». Son las carpetas de %2.</translation>
    </message>
    <message>
        <source>the counting model has nothing to evaluate</source>
        <translation>el modelo contador no tiene nada que evaluar</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has shape %2; the model needs %3</source>
        <translation>el tensor «%1» tiene la forma %2; el modelo necesita %3</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; holds no floating-point numbers</source>
        <translation>el tensor «%1» no contiene números de coma flotante</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; holds NaN or Inf; the weights were not loaded</source>
        <translation>el tensor «%1» contiene NaN o Inf; los pesos no se cargaron</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is missing in the saved weights</source>
        <translation>falta el tensor «%1» en los pesos guardados</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is in the saved weights but not in this model</source>
        <translation>el tensor «%1» está en los pesos guardados pero no en este modelo</translation>
    </message>
    <message>
        <source>the prompt holds no token; give at least one character</source>
        <translation>el texto inicial no contiene ningún token; escriba al menos un carácter</translation>
    </message>
    <message>
        <source>sampling needs temperature &gt;= 0, top-k &gt;= 0, top-p in (0, 1] and tokens &gt;= 0</source>
        <translation>el muestreo necesita temperature &gt;= 0, top-k &gt;= 0, top-p en (0, 1] y tokens &gt;= 0</translation>
    </message>
    <message>
        <source>the prompt holds token %1, outside the model&apos;s vocabulary of %2</source>
        <translation>el texto inicial contiene el token %1, fuera del vocabulario del modelo, de %2</translation>
    </message>
    <message>
        <source>%1 has no weight_map</source>
        <translation>%1 no tiene weight_map</translation>
    </message>
    <message>
        <source>%1: the file of tensor &apos;%2&apos; is not text</source>
        <translation>%1: el archivo del tensor «%2» no es un texto</translation>
    </message>
    <message>
        <source>%1 points outside its folder</source>
        <translation>%1 apunta fuera de su carpeta</translation>
    </message>
    <message>
        <source>%1 lists more than 10000 files</source>
        <translation>%1 nombra más de 10000 archivos</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is missing</source>
        <translation>falta el tensor «%1»</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has another shape or type than config.json describes</source>
        <translation>el tensor «%1» tiene una forma o un tipo distintos de los que describe config.json</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is unknown in this layout</source>
        <translation>el tensor «%1» es desconocido en esta disposición</translation>
    </message>
    <message>
        <source>two to eight runs can be compared, not %1</source>
        <translation>se pueden comparar de dos a ocho ejecuciones, no %1</translation>
    </message>
    <message>
        <source>the queue of %1 is run by another process already</source>
        <translation>otro proceso ya atiende la cola de %1</translation>
    </message>
    <message>
        <source>entry %1 of the queue is not in training</source>
        <translation>la entrada %1 de la cola no se está entrenando</translation>
    </message>
    <message>
        <source>no other run waits for the devices of %1</source>
        <translation>ninguna otra ejecución espera los dispositivos de %1</translation>
    </message>
    <message>
        <source>%1 does not lie in this workspace; only its own runs go to its trash</source>
        <translation>%1 no está en este espacio de trabajo; a su papelera solo van sus propias ejecuciones</translation>
    </message>
    <message>
        <source>%1 does not lie in the trash of this workspace</source>
        <translation>%1 no está en la papelera de este espacio de trabajo</translation>
    </message>
    <message>
        <source>%1 was written by a newer Furrow (version %2); use that one</source>
        <translation>%1 lo escribió un Furrow más reciente (versión %2); use ese</translation>
    </message>
    <message>
        <source>%1 is in the queue already</source>
        <translation>%1 ya está en la cola</translation>
    </message>
    <message>
        <source>this run of the queue is in training; stop it first</source>
        <translation>esta ejecución de la cola se está entrenando; deténgala antes</translation>
    </message>
    <message>
        <source>the queue has no entry %1</source>
        <translation>la cola no tiene la entrada %1</translation>
    </message>
    <message>
        <source>%1 is %2, but two prepared blocks of %3 samples take about %4. Raise it, or lower %5.</source>
        <translation>%1 es %2, pero dos bloques preparados de %3 muestras ocupan unos %4. Súbalo o baje %5.</translation>
    </message>
    <message>
        <source>%1 is %2, but all data together has %3 tokens, less than one window.</source>
        <translation>%1 es %2, pero todos los datos juntos tienen %3 tokens, menos de una ventana.</translation>
    </message>
    <message>
        <source>%1 is %2, but %3 packs into about %4 windows of %5 %6 tokens, and no step goes over the edge of a chunk. Lower it, or raise %7.</source>
        <translation>%1 es %2, pero %3 llena unas %4 ventanas (%5: %6 tokens), y ningún paso cruza el borde de un fragmento. Bájelo o suba %7.</translation>
    </message>
    <message>
        <source>%1 is %2, allowed is auto, none, comma, semicolon, tab, pipe, space or one ASCII character.</source>
        <translation>%1 es %2; se admite auto, none, comma, semicolon, tab, pipe, space o un carácter ASCII.</translation>
    </message>
    <message>
        <source>%1 is none, but the fields of a csv file need something between them.</source>
        <translation>%1 es none, pero los campos de un archivo csv necesitan algo entre ellos.</translation>
    </message>
    <message>
        <source>%1 is the same character as %2.</source>
        <translation>%1 es el mismo carácter que %2.</translation>
    </message>
    <message>
        <source>The texts of a list are joined by line breaks.</source>
        <translation>Los textos de una lista se unen con saltos de línea.</translation>
    </message>
    <message>
        <source>Other columns with text: %1. The setting text_column chooses.</source>
        <translation>Otras columnas con texto: %1. Se elige con el ajuste text_column.</translation>
    </message>
    <message>
        <source>The text is column %1, as text_column says.</source>
        <translation>El texto es la columna %1, como dice text_column.</translation>
    </message>
    <message>
        <source>The text is column %1, chosen by its name.</source>
        <translation>El texto es la columna %1, elegida por su nombre.</translation>
    </message>
    <message>
        <source>The text is column %1, the only one with text.</source>
        <translation>El texto es la columna %1, la única con texto.</translation>
    </message>
    <message>
        <source>%1 % of the tokens prepared so far stand for characters that the vocabulary does not have. Set encoding if the text is read wrongly, or take another tokenizer.</source>
        <translation>El %1 % de los tokens preparados hasta ahora representa caracteres que el vocabulario no tiene. Ajuste encoding si el texto se lee mal, o use otro tokenizador.</translation>
    </message>
    <message>
        <source>%1 is csv: delimiter %2, quote %3, escape %4; its first record names the columns.</source>
        <translation>%1 es csv: separador %2, comillas %3, escape %4; su primer registro nombra las columnas.</translation>
    </message>
    <message>
        <source>%1 is csv: delimiter %2, quote %3, escape %4; its columns have no names.</source>
        <translation>%1 es csv: separador %2, comillas %3, escape %4; sus columnas no tienen nombre.</translation>
    </message>
    <message>
        <source>%1 is %2 text and is converted to UTF-8.</source>
        <translation>%1 es texto %2 y se convierte a UTF-8.</translation>
    </message>
    <message>
        <source>%1 has bytes that are not UTF-8. They stay as they are; set encoding if the text has another one.</source>
        <translation>%1 tiene bytes que no son UTF-8. Se quedan como están; ajuste encoding si el texto tiene otra codificación.</translation>
    </message>
    <message>
        <source>%1, line %2: a quote that begins in this record is not closed where a field ends, and would swallow the lines after it. Close it, or say with csv_quote, csv_escape or csv_delimiter how the file is written.</source>
        <translation>%1, línea %2: unas comillas que empiezan en este registro no se cierran donde acaba un campo y se tragarían las líneas siguientes. Ciérrelas, o indique con csv_quote, csv_escape o csv_delimiter cómo está escrito el archivo.</translation>
    </message>
    <message>
        <source>There is no encoding &apos;%1&apos;. Known are utf-8, utf-16le, windows-1252, shift_jis, gb18030 and the others that ICU has.</source>
        <translation>No hay ninguna codificación «%1». Se conocen utf-8, utf-16le, windows-1252, shift_jis, gb18030 y las demás que tiene ICU.</translation>
    </message>
    <message>
        <source>Row %1 of its file cannot become tokens. %2 The line &apos;sample %3&apos; on the quarantine list (exclude) leaves it out.</source>
        <translation>La fila %1 de su archivo no se puede convertir en tokens. %2 La línea «sample %3» en la lista de cuarentena (exclude) la deja fuera.</translation>
    </message>
    <message>
        <source>The pattern %1 tells characters beside %2 apart, and Oniguruma %3 of this system does not know that one. Install Oniguruma 6.9.10 or later, or leave the text out.</source>
        <translation>El patrón %1 distingue caracteres próximos a %2, y la Oniguruma %3 de este sistema no conoce ese carácter. Instale Oniguruma 6.9.10 o posterior, o deje fuera el texto.</translation>
    </message>
    <message>
        <source>What the pattern %1 matches in a text of %2 bytes cannot be found out (%3). Write a pattern that backtracks less, or leave the text out.</source>
        <translation>No se puede averiguar con qué coincide el patrón %1 en un texto de %2 bytes (%3). Escriba un patrón con menos retrocesos, o deje fuera el texto.</translation>
    </message>
    <message>
        <source>The sentencepiece model %1 does not encode a text of %2 bytes: %3.</source>
        <translation>El modelo sentencepiece %1 no codifica un texto de %2 bytes: %3.</translation>
    </message>
    <message>
        <source>it is a link to a file elsewhere</source>
        <translation>es un enlace a un archivo de otro lugar</translation>
    </message>
    <message>
        <source>%1 has %2, an address with a name or password in it, which would be kept in the run. Give a file, or hf://owner/name and the secret in HF_TOKEN.</source>
        <translation>%1 contiene %2, una dirección con nombre o contraseña, que quedaría guardada en la ejecución. Indique un archivo, o hf://propietario/nombre y el secreto en HF_TOKEN.</translation>
    </message>
    <message>
        <source>hf://%1: the list of files does not end (%2). The server is at fault; try again later, or without the mirror that HF_ENDPOINT names.</source>
        <translation>hf://%1: la lista de archivos no termina (%2). Es un fallo del servidor; inténtelo más tarde, o sin el espejo que indica HF_ENDPOINT.</translation>
    </message>
    <message>
        <source>page %1 leads back to one before it</source>
        <translation>la página %1 lleva de vuelta a una anterior</translation>
    </message>
    <message>
        <source>%1 pages and %2 files so far</source>
        <translation>%1 páginas y %2 archivos hasta ahora</translation>
    </message>
    <message>
        <source>Whether %1 (%2) is free cannot be told: %3. Choose another device, or have that mended first.</source>
        <translation>No se puede saber si %1 (%2) está libre: %3. Elija otro dispositivo, o haga que se resuelva antes ese problema.</translation>
    </message>
    <message>
        <source>%1 (%2) is in use by another run. Choose another device, or stop that run first.</source>
        <translation>%1 (%2) está en uso por otra ejecución. Elija otro dispositivo, o detenga antes esa ejecución.</translation>
    </message>
    <message>
        <source>SIGKILL, sender unknown</source>
        <translation>SIGKILL, remitente desconocido</translation>
    </message>
    <message>
        <source>The %1 workers would take about %2 of memory together, and this machine has %3. Fewer workers, a smaller batch_size or a smaller model need less.</source>
        <translation>Los %1 trabajadores ocuparían juntos unos %2 de memoria, y este equipo tiene %3. Menos trabajadores, un batch_size menor o un modelo más pequeño necesitan menos.</translation>
    </message>
    <message>
        <source>The %1 workers want %2 cores together, and this machine has %3: they would take turns and be no faster. Use fewer workers or threads.</source>
        <translation>Los %1 trabajadores quieren juntos %2 núcleos, y este equipo tiene %3: se turnarían y no irían más rápido. Use menos trabajadores o hilos.</translation>
    </message>
    <message>
        <source>cannot list %1</source>
        <translation>no se puede listar %1</translation>
    </message>
    <message>
        <source>checkpoint %1 cannot be read: %2 is not there. Is its disk mounted?</source>
        <translation>no se puede leer el punto de control %1: falta %2. ¿Está montado su disco?</translation>
    </message>
    <message>
        <source>checkpoint %1 cannot be read: %2</source>
        <translation>no se puede leer el punto de control %1: %2</translation>
    </message>
    <message>
        <source>%1 is gone. Is its disk still there?</source>
        <translation>%1 ya no está. ¿Sigue ahí su disco?</translation>
    </message>
    <message>
        <source>%1 Older checkpoints are kept until two newer ones are whole.</source>
        <translation>%1 Los puntos de control anteriores se conservan hasta que dos más recientes estén íntegros.</translation>
    </message>
    <message>
        <source>Checkpoint %1 was marked damaged and is whole: it is taken back with %2 chunks.</source>
        <translation>El punto de control %1 estaba marcado como dañado y está íntegro: se recupera con %2 fragmentos.</translation>
    </message>
    <message>
        <source>Checkpoint %1 was marked damaged and is whole. The run went on without it, so it stays out of the weights; a new run can start from it.</source>
        <translation>El punto de control %1 estaba marcado como dañado y está íntegro. La ejecución siguió sin él, así que queda fuera de los pesos; una ejecución nueva puede empezar desde él.</translation>
    </message>
    <message>
        <source>%1 unfinished checkpoint folders were removed.</source>
        <translation>Se quitaron %1 carpetas de puntos de control sin terminar.</translation>
    </message>
    <message>
        <source>%1 is a link and was left as it is.</source>
        <translation>%1 es un enlace y se dejó como está.</translation>
    </message>
    <message>
        <source>%1 Nothing was changed.</source>
        <translation>%1 No se cambió nada.</translation>
    </message>
    <message>
        <source>Put a whole copy back and resume; or &apos;furrowctl resume %1 --accept-loss&apos; goes on from the newest whole checkpoint before it and trains its chunks again (&apos;--dry-run&apos; shows which).</source>
        <translation>Vuelva a poner una copia íntegra y reanude; o bien «furrowctl resume %1 --accept-loss» sigue desde el más reciente de los puntos de control íntegros anteriores y entrena de nuevo sus fragmentos («--dry-run» muestra cuáles).</translation>
    </message>
    <message>
        <source>Bring the file or its disk back and resume; or &apos;furrowctl resume %1 --accept-loss&apos; goes on without it and trains its chunks again (&apos;--dry-run&apos; shows which).</source>
        <translation>Recupere el archivo o su disco y reanude; o bien «furrowctl resume %1 --accept-loss» sigue sin él y entrena de nuevo sus fragmentos («--dry-run» muestra cuáles).</translation>
    </message>
    <message>
        <source>%1 Its %2 chunks are free again.</source>
        <translation>%1 Sus %2 fragmentos vuelven a estar libres.</translation>
    </message>
    <message>
        <source>Checkpoint %1 was marked damaged and is whole. The next resume takes it back where that is still possible.</source>
        <translation>El punto de control %1 estaba marcado como dañado y está íntegro. La próxima reanudación lo recupera si aún es posible.</translation>
    </message>
    <message>
        <source>Checkpoint %1 was marked damaged and is whole. Where a resume can take it back, fewer chunks are trained again than counted here.</source>
        <translation>El punto de control %1 estaba marcado como dañado y está íntegro. Si una reanudación puede recuperarlo, se vuelven a entrenar menos fragmentos de los que se cuentan aquí.</translation>
    </message>
    <message>
        <source>%1 No whole checkpoint is left behind it: training would begin again from the start weights.</source>
        <translation>%1 Detrás no queda ningún punto de control íntegro: el entrenamiento empezaría de nuevo desde los pesos iniciales.</translation>
    </message>
    <message>
        <source>%1 The one before it would be used.</source>
        <translation>%1 Se usaría el anterior.</translation>
    </message>
    <message>
        <source>It was marked damaged and is whole; a resume takes it back where that is still possible.</source>
        <translation>Estaba marcado como dañado y está íntegro; una reanudación lo recupera si aún es posible.</translation>
    </message>
    <message>
        <source>%1 is a link, and Furrow writes and deletes nothing through links in a run folder. Put the folder or file itself there, mount the other disk at that place, or move the whole run.</source>
        <translation>%1 es un enlace, y Furrow no escribe ni borra nada a través de enlaces en una carpeta de ejecución. Ponga ahí la carpeta o el archivo mismo, monte el otro disco en ese lugar o mueva la ejecución entera.</translation>
    </message>
    <message>
        <source>it knows no checkpoint</source>
        <translation>no conoce ningún punto de control</translation>
    </message>
    <message>
        <source>the newest checkpoint that it knows is %1 (step %2, %3)</source>
        <translation>el punto de control más reciente que conoce es %1 (paso %2, %3)</translation>
    </message>
    <message>
        <source>The tracker %1 is older than the weights: %2, and in %3 lie manifests of this run that it does not know: %4, the newest %5 (step %6, %7).</source>
        <translation>El registro %1 es más antiguo que los pesos: %2, y en %3 hay manifiestos de esta ejecución que no conoce: %4, el más reciente %5 (paso %6, %7).</translation>
    </message>
    <message>
        <source>%1 of the entries in %2 are not known to the tracker; nothing of them was deleted, they were moved to %3: %4</source>
        <translation>%1 de las entradas en %2 no las conoce el registro; no se borró nada de ellas, se movieron a %3: %4</translation>
    </message>
    <message>
        <source>the tracker names &apos;%1&apos; as the prepared file of block %2, which is not the name of a file; `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove</source>
        <translation>el registro nombra «%1» como archivo preparado del bloque %2, que no es un nombre de archivo; `furrowctl doctor %3 --repair` reconstruye lo que prueban los puntos de control</translation>
    </message>
    <message>
        <source>the tracker names &apos;%1&apos; as the folder of checkpoint %2, which is not the name of a folder; `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove</source>
        <translation>el registro nombra «%1» como carpeta del punto de control %2, que no es un nombre de carpeta; `furrowctl doctor %3 --repair` reconstruye lo que prueban los puntos de control</translation>
    </message>
    <message>
        <source>there is no damaged checkpoint %1</source>
        <translation>no hay ningún punto de control dañado %1</translation>
    </message>
    <message>
        <source>checkpoint %1 was found whole again</source>
        <translation>el punto de control %1 se encontró íntegro de nuevo</translation>
    </message>
    <message>
        <source>cannot look at %1</source>
        <translation>no se puede examinar %1</translation>
    </message>
    <message>
        <source>The download %1 has other bytes than the hub promised (SHA-256).</source>
        <translation>La descarga %1 tiene bytes distintos de los que prometió el hub (SHA-256).</translation>
    </message>
    <message>
        <source>The rows %1 to %2 of %3 are not those that were there when the run planned its blocks: the file was changed. Restore it and try the chunks again, accept them as not trained, or begin a new run.</source>
        <translation>Las filas %1 a %2 de %3 no son las que había cuando la ejecución planeó sus bloques: el archivo se modificó. Restáurelo y reintente los fragmentos, acéptelos como no entrenados, o empiece una ejecución nueva.</translation>
    </message>
    <message>
        <source>%1 is a pointer of git-lfs, not the data itself. Fetch the data with &apos;git lfs pull&apos;.</source>
        <translation>%1 es un puntero de git-lfs, no los datos. Traiga los datos con «git lfs pull».</translation>
    </message>
    <message>
        <source>%1 is a web page, not data: its download was refused or needs a log-in. Fetch it again.</source>
        <translation>%1 es una página web, no datos: la descarga fue rechazada o pide iniciar sesión. Descárguelo de nuevo.</translation>
    </message>
    <message>
        <source>%1 is Parquet with an encrypted footer, which Furrow cannot read. Write it again without encryption.</source>
        <translation>%1 es Parquet con el pie cifrado, que Furrow no puede leer. Escríbalo de nuevo sin cifrar.</translation>
    </message>
    <message>
        <source>%1 ends as Parquet and does not begin so: its first bytes are damaged. Fetch or write it again.</source>
        <translation>%1 termina como un archivo Parquet, pero no empieza como tal: sus primeros bytes están dañados. Descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1 is called Parquet and is %2. Give it its right name, or write it as Parquet.</source>
        <translation>%1 tiene nombre de archivo Parquet, pero es %2. Dele su nombre correcto o escríbalo como Parquet.</translation>
    </message>
    <message>
        <source>%1 is called Parquet and neither begins nor ends as such a file. Fetch or write it again, or give it its right name.</source>
        <translation>%1 tiene nombre de archivo Parquet, pero no empieza ni termina como tal. Descárguelo o escríbalo de nuevo, o dele su nombre correcto.</translation>
    </message>
    <message>
        <source>%1 is called JSON lines, and none of its first lines is a JSON object. Give it its right name, or write one object per line.</source>
        <translation>%1 tiene nombre de JSON lines, pero ninguna de sus primeras líneas es un objeto JSON. Dele su nombre correcto o escriba un objeto por línea.</translation>
    </message>
    <message>
        <source>%1 is called %2 and does not begin as such a file: its first bytes are damaged, or it has a wrong name. Fetch or write it again, or give it its right name.</source>
        <translation>%1 tiene nombre de %2, pero no empieza como un archivo de ese tipo: sus primeros bytes están dañados o el nombre es incorrecto. Descárguelo o escríbalo de nuevo, o dele su nombre correcto.</translation>
    </message>
    <message>
        <source>The download %1 is damaged: its checksum differs.</source>
        <translation>La descarga %1 está dañada: su suma de comprobación es otra.</translation>
    </message>
    <message>
        <source>downloading %1: %2 of %3 at %4/s, %5 left</source>
        <translation>descargando %1: %2 de %3 a %4/s, faltan %5</translation>
    </message>
    <message>
        <source>Reading the downloads</source>
        <translation>Leyendo las descargas</translation>
    </message>
    <message>
        <source>%1 is not compared with the SHA-256 that the hub promises: %2.</source>
        <translation>%1 no se compara con el SHA-256 que promete el hub: %2.</translation>
    </message>
    <message>
        <source>it is larger than a quarter of the cache (cache_gib), so it is read by parts</source>
        <translation>es mayor que un cuarto de la caché (cache_gib), así que se lee por partes</translation>
    </message>
    <message>
        <source>only the columns that are needed are read of it</source>
        <translation>solo se leen de él las columnas necesarias</translation>
    </message>
    <message>
        <source>the hub promises no SHA-256 of it</source>
        <translation>el hub no indica su SHA-256</translation>
    </message>
    <message>
        <source>Block %1 was first prepared from a copy of %2 that was not what the hub promises (SHA-256), and has other rows now. What was trained of it stays in the weights. Begin a new run, or accept its other chunks as not trained.</source>
        <translation>El bloque %1 se preparó primero con una copia de %2 que no era lo que el hub promete (SHA-256), y ahora tiene otras filas. Lo que se entrenó de él queda en los pesos. Empiece una ejecución nueva, o acepte sus otros fragmentos como no entrenados.</translation>
    </message>
    <message>
        <source>the copy of %1 on this disk was wrong when it was prepared, or became so</source>
        <translation>la copia de %1 en este disco estaba mal cuando se preparó, o se estropeó después</translation>
    </message>
    <message>
        <source>%1 does not hold what the hub promises of %2 (SHA-256).</source>
        <translation>%1 no tiene el contenido que el hub promete para %2 (SHA-256).</translation>
    </message>
    <message>
        <source>%1 does not hold what the hub&apos;s list promises of %2 (git&apos;s SHA-1).</source>
        <translation>%1 no tiene el contenido que la lista del hub promete para %2 (SHA-1 de git).</translation>
    </message>
    <message>
        <source>The name of %1 is not UTF-8, so a run cannot keep it. Rename the file.</source>
        <translation>El nombre de %1 no es UTF-8, así que una ejecución no puede guardarlo. Cambie el nombre del archivo.</translation>
    </message>
    <message>
        <source>%1 was written to while it was read</source>
        <translation>se escribió en %1 mientras se leía</translation>
    </message>
    <message>
        <source>%1 was written to while the run reads it.</source>
        <translation>Se escribió en %1 mientras la ejecución lo lee.</translation>
    </message>
    <message>
        <source>1 chunk cannot be read (%1).</source>
        <translation>No se puede leer 1 fragmento (%1).</translation>
    </message>
    <message>
        <source>%1 chunks cannot be read (the first: %2).</source>
        <translation>No se pueden leer %1 fragmentos (el primero: %2).</translation>
    </message>
    <message>
        <source>%1: only the column &apos;%2&apos; is fetched (%3 % of the files), so what arrives cannot be compared with the SHA-256 that the hub promises.</source>
        <translation>%1: solo se descarga la columna «%2» (%3 % de los archivos), así que lo que llega no se puede comparar con el SHA-256 que promete el hub.</translation>
    </message>
    <message>
        <source>the audit was ended before it was done</source>
        <translation>la auditoría se interrumpió antes de acabar</translation>
    </message>
    <message>
        <source>%1: the fingerprints of its samples in %2 are not those that the tracker recorded</source>
        <translation>%1: las huellas de sus muestras en %2 no son las que anotó el registro</translation>
    </message>
    <message>
        <source>%1: its rows, windows or tokens in %2 are not those that the tracker recorded</source>
        <translation>%1: sus filas, ventanas o tokens en %2 no son los que anotó el registro</translation>
    </message>
    <message>
        <source>block %1 has the file &apos;%2&apos;, which is not the name of a file</source>
        <translation>el bloque %1 tiene el archivo «%2», que no es un nombre de archivo</translation>
    </message>
    <message>
        <source>block %1: %2</source>
        <translation>bloque %1: %2</translation>
    </message>
    <message>
        <source>block %1: the file %2 is whole and has other content than the tracker recorded: it was replaced</source>
        <translation>bloque %1: el archivo %2 está íntegro, pero su contenido difiere del que anotó el registro: se sustituyó</translation>
    </message>
    <message>
        <source>the prepared block</source>
        <translation>el bloque preparado</translation>
    </message>
    <message>
        <source>Reading the prepared blocks</source>
        <translation>Leyendo los bloques preparados</translation>
    </message>
    <message>
        <source>block %1: prepared from the source once more it has other content than the tracker recorded</source>
        <translation>bloque %1: al prepararlo otra vez desde la fuente, su contenido difiere del que anotó el registro</translation>
    </message>
    <message>
        <source>the source</source>
        <translation>la fuente</translation>
    </message>
    <message>
        <source>Reading the source once more</source>
        <translation>Leyendo la fuente otra vez</translation>
    </message>
    <message>
        <source>%1 blocks prepared once more from %2 of text, and the fingerprints of their samples, chunk by chunk</source>
        <translation>%1 bloques preparados otra vez a partir de %2 de texto, y las huellas de sus muestras, fragmento a fragmento</translation>
    </message>
    <message>
        <source>Reading the manifests of the checkpoints</source>
        <translation>Leyendo los manifiestos de los puntos de control</translation>
    </message>
    <message>
        <source>%1: checkpoint %2 trained windows %3 by its manifest and %4 by the tracker</source>
        <translation>%1: el punto de control %2 entrenó las ventanas %3 según su manifiesto y %4 según el registro</translation>
    </message>
    <message>
        <source>the windows in %1 manifests against %2 part rows of the tracker</source>
        <translation>las ventanas de %1 manifiestos frente a %2 filas de partes del registro</translation>
    </message>
    <message>
        <source>the weights of checkpoint %1 could not be inspected: its manifest cannot be used</source>
        <translation>los pesos del punto de control %1 no se pudieron inspeccionar: su manifiesto no se puede usar</translation>
    </message>
    <message>
        <source>there is no checkpoint yet</source>
        <translation>aún no hay ningún punto de control</translation>
    </message>
    <message>
        <source>SHA-256 of %1 files (%2) of all %3 checkpoints that are there</source>
        <translation>SHA-256 de %1 archivos (%2) de los %3 puntos de control presentes</translation>
    </message>
    <message>
        <source>SHA-256 of %1 files (%2) of %3 checkpoints, the newest of each replica</source>
        <translation>SHA-256 de %1 archivos (%2) de %3 puntos de control, el más reciente de cada réplica</translation>
    </message>
    <message>
        <source>checkpoint %1 has the folder &apos;%2&apos;, which is not the name of a folder</source>
        <translation>el punto de control %1 tiene la carpeta «%2», que no es un nombre de carpeta</translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 is not the one that the tracker recorded (its SHA-256 differs): the file was changed, or belongs to another checkpoint</source>
        <translation>el manifiesto del punto de control %1 no es el que anotó el registro (su SHA-256 difiere): el archivo se modificó o es de otro punto de control</translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 cannot be used: %2</source>
        <translation>el manifiesto del punto de control %1 no se puede usar: %2</translation>
    </message>
    <message>
        <source>checkpoint %1 has another %2 in its manifest than in the tracker: one of them was changed by hand</source>
        <translation>el punto de control %1 tiene en su manifiesto un valor (%2) distinto del que figura en el registro: uno de los dos se modificó a mano</translation>
    </message>
    <message>
        <source>the weights of checkpoint %1 were removed by the keep policy, and the tracker does not know it: it is older than the checkpoints</source>
        <translation>la política de conservación eliminó los pesos del punto de control %1 y el registro no lo sabe: es más antiguo que los puntos de control</translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 could not be inspected: %2</source>
        <translation>el manifiesto del punto de control %1 no se pudo inspeccionar: %2</translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 names &apos;%2&apos;, which is not in its folder</source>
        <translation>el manifiesto del punto de control %1 nombra «%2», que no está en su carpeta</translation>
    </message>
    <message>
        <source>Reading the weights of checkpoint %1</source>
        <translation>Leyendo los pesos del punto de control %1</translation>
    </message>
    <message>
        <source>%1 of checkpoint %2 could not be inspected: %3</source>
        <translation>%1 del punto de control %2 no se pudo inspeccionar: %3</translation>
    </message>
    <message>
        <source>%1 of checkpoint %2 is not what was written: its SHA-256 differs</source>
        <translation>%1 del punto de control %2 no es lo que se escribió: su SHA-256 difiere</translation>
    </message>
    <message>
        <source>checkpoint %1 (step %2) is not in the tracker: the tracker is older than the checkpoints</source>
        <translation>el punto de control %1 (paso %2) no está en el registro: el registro es más antiguo que los puntos de control</translation>
    </message>
    <message>
        <source>The folder %1 has a name that is not UTF-8. Name another folder for the run.</source>
        <translation>La carpeta %1 tiene un nombre que no es UTF-8. Indique otra carpeta para la ejecución.</translation>
    </message>
    <message>
        <source>run.json against what the tracker keeps of it, and the hash of the tokenizer</source>
        <translation>run.json frente a lo que el registro guarda de él, y el hash del tokenizador</translation>
    </message>
    <message>
        <source>Reading the tracker</source>
        <translation>Leyendo el registro</translation>
    </message>
    <message>
        <source>there are chunks of epoch %1, which never began</source>
        <translation>hay fragmentos de la época %1, que nunca empezó</translation>
    </message>
    <message>
        <source>checkpoint %1 is marked as given up, but surviving weights were made from it</source>
        <translation>el punto de control %1 está marcado como abandonado, pero de él proceden pesos supervivientes</translation>
    </message>
    <message>
        <source>checkpoint %1 is marked as surviving, but no newest weights were made from it</source>
        <translation>el punto de control %1 está marcado como superviviente, pero ningún peso más reciente procede de él</translation>
    </message>
    <message>
        <source>checkpoint %1 names checkpoint %2 as its parent, which is not older</source>
        <translation>el punto de control %1 nombra como padre al punto de control %2, que no es más antiguo</translation>
    </message>
    <message>
        <source>the table %1 has %2 rows and ids up to %3: rows were taken out of the history</source>
        <translation>la tabla %1 tiene %2 filas e identificadores hasta %3: se quitaron filas del historial</translation>
    </message>
    <message>
        <source>%1 blocks have chunks and no counters</source>
        <translation>%1 bloques tienen fragmentos y ningún contador</translation>
    </message>
    <message>
        <source>%1 in the folder of the checkpoints does not belong to this run: a copy, or something foreign. Nothing was done with it; the next resume moves it to checkpoints/unknown.</source>
        <translation>%1, en la carpeta de los puntos de control, no pertenece a esta ejecución: es una copia o algo ajeno. No se hizo nada con ello; la próxima reanudación lo mueve a checkpoints/unknown.</translation>
    </message>
    <message>
        <source>%1 in the folder of the checkpoints is a link and was not looked into</source>
        <translation>%1, en la carpeta de los puntos de control, es un enlace y no se miró dentro</translation>
    </message>
    <message>
        <source>%1 is a link: what is inspected lies elsewhere, and Furrow writes nothing there. Put the folder itself in its place.</source>
        <translation>%1 es un enlace: lo que se inspecciona está en otro lugar, y Furrow no escribe nada allí. Ponga la carpeta misma en su sitio.</translation>
    </message>
    <message>
        <source>%1 is listed in epoch %2</source>
        <translation>%1 figura en la época %2</translation>
    </message>
    <message>
        <source>block %1 is marked as prepared and has no digest: its file cannot be proven</source>
        <translation>el bloque %1 está marcado como preparado y no tiene hash: su archivo no se puede comprobar</translation>
    </message>
    <message>
        <source>%1 is marked as trained by the parent run, which the list of what the parent trained does not say</source>
        <translation>%1 está marcado como entrenado por la ejecución padre, pero la lista de lo que esta entrenó no lo dice</translation>
    </message>
    <message>
        <source>%1 names claim %2, which is not one of its claims</source>
        <translation>%1 nombra la reserva %2, que no es una de sus reservas</translation>
    </message>
    <message>
        <source>%1 says that it was trained %2 times, its claims say %3</source>
        <translation>%1 dice que se entrenó %2 veces, sus reservas dicen %3</translation>
    </message>
    <message>
        <source>%1: claim %2 says %3 %4, its windows and steps give %5: its row was changed</source>
        <translation>%1: la reserva %2 dice %3 %4, sus ventanas y pasos dan %5: su fila se modificó</translation>
    </message>
    <message>
        <source>%1: claim %2 says that it trained %3 tokens, the whole chunk has %4: its row was changed</source>
        <translation>%1: la reserva %2 dice que entrenó %3 tokens, el fragmento entero tiene %4: su fila se modificó</translation>
    </message>
    <message>
        <source>%1: claim %2 trained or left out windows that it did not have, or both: its row was changed</source>
        <translation>%1: la reserva %2 entrenó u omitió ventanas que no tenía, o ambas cosas a la vez: su fila se modificó</translation>
    </message>
    <message>
        <source>%1: its mean loss is not the loss over the tokens of its newest training: one of the two rows was changed</source>
        <translation>%1: su pérdida media no es la pérdida por token de su último entrenamiento: una de las dos filas se modificó</translation>
    </message>
    <message>
        <source>Reading the plans of the blocks</source>
        <translation>Leyendo los planes de los bloques</translation>
    </message>
    <message>
        <source>block %1 (epoch %2) counts as visited, but no training of its chunks began</source>
        <translation>el bloque %1 (época %2) cuenta como visitado, pero no empezó ningún entrenamiento de sus fragmentos</translation>
    </message>
    <message>
        <source>block %1 (epoch %2) does not count as visited, but training of its chunks began</source>
        <translation>el bloque %1 (época %2) no cuenta como visitado, pero empezó el entrenamiento de sus fragmentos</translation>
    </message>
    <message>
        <source>block %1 begins at row %2 of its source, the block before it ended at row %3: there is a gap or an overlap</source>
        <translation>el bloque %1 empieza en la fila %2 de su fuente, el anterior terminó en la fila %3: hay un hueco o un solapamiento</translation>
    </message>
    <message>
        <source>block %1 has %2 chunks of %3 rows by its own row, and %4 chunks of %5 rows in epoch 1</source>
        <translation>el bloque %1 tiene %2 fragmentos de %3 filas según su propia fila, y %4 fragmentos de %5 filas en la época 1</translation>
    </message>
    <message>
        <source>block %1 has a prepared file and is not marked as prepared</source>
        <translation>el bloque %1 tiene un archivo preparado y no está marcado como preparado</translation>
    </message>
    <message>
        <source>block %1 is marked as prepared and has no file</source>
        <translation>el bloque %1 está marcado como preparado y no tiene archivo</translation>
    </message>
    <message>
        <source>block %1 is marked as prepared, but chunks of it (epoch %2) wait to be prepared</source>
        <translation>el bloque %1 está marcado como preparado, pero fragmentos suyos (época %2) esperan su preparación</translation>
    </message>
    <message>
        <source>block %1 is not marked as prepared, but chunks of it (epoch %2) can be claimed</source>
        <translation>el bloque %1 no está marcado como preparado, pero fragmentos suyos (época %2) se pueden reservar</translation>
    </message>
    <message>
        <source>block %1: its plan does not begin where the one before it ended, or does not end where the next one begins: it was changed by hand</source>
        <translation>bloque %1: su plan no empieza donde terminó el anterior, o no termina donde empieza el siguiente: se modificó a mano</translation>
    </message>
    <message>
        <source>block %1: its plan has other rows or chunks than its row in the tracker: one of them was changed by hand</source>
        <translation>bloque %1: su plan tiene filas o fragmentos distintos de los de su fila en el registro: uno de los dos se modificó a mano</translation>
    </message>
    <message>
        <source>checkpoint %1 is %2 steps further than what it was made from, its parts have %3: the row of a part or of a checkpoint was changed</source>
        <translation>el punto de control %1 está %2 pasos más allá de aquel del que procede, sus partes tienen %3: se modificó la fila de una parte o de un punto de control</translation>
    </message>
    <message>
        <source>checkpoint %1 is a merge, and no round of merging had all checkpoints that it was made from</source>
        <translation>el punto de control %1 es una fusión, y ninguna ronda de fusión tuvo todos los puntos de control de los que procede</translation>
    </message>
    <message>
        <source>checkpoint %1 is of another replica than worker process %2, which wrote it</source>
        <translation>el punto de control %1 es de una réplica distinta de la del proceso de trabajo %2, que lo escribió</translation>
    </message>
    <message>
        <source>checkpoint %1 names claims %2 to %3 and has parts of claims %4 to %5</source>
        <translation>el punto de control %1 nombra las reservas %2 a %3 y tiene partes de las reservas %4 a %5</translation>
    </message>
    <message>
        <source>checkpoint %1 was given to round %2 of merging, and the tracker lacks one of them</source>
        <translation>el punto de control %1 se entregó a la ronda de fusión %2, y al registro le falta uno de los dos</translation>
    </message>
    <message>
        <source>checkpoint %1 was written by worker process %2 and has a part of claim %3, which is of worker process %4</source>
        <translation>el punto de control %1 lo escribió el proceso de trabajo %2 y tiene una parte de la reserva %3, que es del proceso de trabajo %4</translation>
    </message>
    <message>
        <source>checkpoint %1 was written by worker process %2, which the tracker does not have</source>
        <translation>el punto de control %1 lo escribió el proceso de trabajo %2, que el registro no tiene</translation>
    </message>
    <message>
        <source>checkpoint %1, which the tracker does not have, is said to be made from checkpoint %2</source>
        <translation>consta que el punto de control %1, que el registro no tiene, procede del punto de control %2</translation>
    </message>
    <message>
        <source>claim %1 has a part in checkpoint %2, which the tracker does not have</source>
        <translation>la reserva %1 tiene una parte en el punto de control %2, que el registro no tiene</translation>
    </message>
    <message>
        <source>claim %1 has parts in checkpoints of different worker processes (%2 and %3)</source>
        <translation>la reserva %1 tiene partes en puntos de control de distintos procesos de trabajo (%2 y %3)</translation>
    </message>
    <message>
        <source>claim %1 is of worker process %2, which the tracker does not have</source>
        <translation>la reserva %1 es del proceso de trabajo %2, que el registro no tiene</translation>
    </message>
    <message>
        <source>claim %1 says that it began with step %2 of worker process %3, which had made %4 before: the row of a claim was changed</source>
        <translation>la reserva %1 dice que empezó con el paso %2 del proceso de trabajo %3, que antes había hecho %4: se modificó la fila de una reserva</translation>
    </message>
    <message>
        <source>claim %1 says that it took %2 steps, checkpoint %3 and others have %4 of it: the row of a claim or of a part was changed</source>
        <translation>la reserva %1 dice que dio %2 pasos, el punto de control %3 y otros tienen %4 de ella: se modificó la fila de una reserva o de una parte</translation>
    </message>
    <message>
        <source>events are of worker process %1, which the tracker does not have: its row was taken out</source>
        <translation>hay sucesos del proceso de trabajo %1, que el registro no tiene: se quitó su fila</translation>
    </message>
    <message>
        <source>of a claim its place in the schedule of the rate, its highest gradient norm and the samples that stood out</source>
        <translation>de una reserva, su lugar en el plan de la tasa, su mayor norma de gradiente y las muestras que destacaron</translation>
    </message>
    <message>
        <source>of a round of merging whether more replicas contributed than are listed</source>
        <translation>de una ronda de fusión, si contribuyeron más réplicas de las que figuran</translation>
    </message>
    <message>
        <source>rebuilt: counters and totals were counted anew</source>
        <translation>reconstruido: los contadores y totales se contaron de nuevo</translation>
    </message>
    <message>
        <source>round %1 of merging gave checkpoint %2, which is not a merge that the tracker has</source>
        <translation>la ronda de fusión %1 dio el punto de control %2, que no es una fusión que el registro tenga</translation>
    </message>
    <message>
        <source>round %1 of merging has a result and no contributions</source>
        <translation>la ronda de fusión %1 tiene un resultado y ninguna contribución</translation>
    </message>
    <message>
        <source>round %1 of merging was done by worker process %2, whose own contribution to it is gone</source>
        <translation>la ronda de fusión %1 la hizo el proceso de trabajo %2, cuya propia contribución a ella ha desaparecido</translation>
    </message>
    <message>
        <source>run.json against what the tracker keeps of it, and the hashes of tokenizer and held-out text</source>
        <translation>run.json frente a lo que el registro guarda de él, y los hashes del tokenizador y del texto reservado</translation>
    </message>
    <message>
        <source>the events open %1 epochs, the tracker has %2</source>
        <translation>los sucesos abren %1 épocas, el registro tiene %2</translation>
    </message>
    <message>
        <source>the events open %1 rounds of merging, the tracker has %2</source>
        <translation>los sucesos abren %1 rondas de fusión, el registro tiene %2</translation>
    </message>
    <message>
        <source>the held-out text: this run was made by a version that did not keep its hash</source>
        <translation>el texto reservado: esta ejecución la creó una versión que no guardaba su hash</translation>
    </message>
    <message>
        <source>run.json in part or as a whole: this run was made by a version that kept no full record of it</source>
        <translation>run.json en parte o por completo: esta ejecución la hizo una versión que no guardaba un registro completo</translation>
    </message>
    <message>
        <source>of run.json the name of the run, its preset, when and by which version it was made, and where its data lie</source>
        <translation>de run.json el nombre de la ejecución, su preajuste, cuándo y con qué versión se creó, y dónde están sus datos</translation>
    </message>
    <message>
        <source>of run.json the settings that a resume may change and the list of its files: the tracker has no record of them</source>
        <translation>de run.json los ajustes que una reanudación puede cambiar y la lista de sus archivos: el registro no los guarda</translation>
    </message>
    <message>
        <source>telemetry and logs</source>
        <translation>la telemetría y los logs</translation>
    </message>
    <message>
        <source>the order in which chunks are given out, and who held a chunk last</source>
        <translation>el orden en que se reparten los fragmentos, y quién tuvo un fragmento por última vez</translation>
    </message>
    <message>
        <source>the plans of all blocks against their rows; SHA-256 of %1 prepared blocks in the cache, and their chunks against the tracker; %2 more are not there and are made again when they are needed</source>
        <translation>los planes de todos los bloques frente a sus filas; SHA-256 de %1 bloques preparados en la caché, y sus fragmentos frente al registro; otros %2 no están y se hacen de nuevo cuando se necesitan</translation>
    </message>
    <message>
        <source>there are counters of block %1 (epoch %2), which has no chunks</source>
        <translation>hay contadores del bloque %1 (época %2), que no tiene fragmentos</translation>
    </message>
    <message>
        <source>wall-clock times, and the time that the run was active</source>
        <translation>los tiempos del reloj de pared, y el tiempo que la ejecución estuvo activa</translation>
    </message>
    <message>
        <source>who wrote %1 checkpoints and their loss on held-out text: their manifests are of a version that did not keep it</source>
        <translation>quién escribió %1 puntos de control y su pérdida en el texto reservado: sus manifiestos son de una versión que no lo guardaba</translation>
    </message>
    <message>
        <source>worker process %1 contributed to round %2 of merging, and the tracker lacks the process, the round or the checkpoint</source>
        <translation>el proceso de trabajo %1 contribuyó a la ronda de fusión %2, y al registro le falta el proceso, la ronda o el punto de control</translation>
    </message>
    <message>
        <source>worker process %1 is of attempt %2, which the tracker does not have</source>
        <translation>el proceso de trabajo %1 es del intento %2, que el registro no tiene</translation>
    </message>
    <message>
        <source>worker process %1 trained replica %2, which the tracker does not have</source>
        <translation>el proceso de trabajo %1 entrenó la réplica %2, que el registro no tiene</translation>
    </message>
    <message>
        <source>checkpoint %1 has a part of claim %2, which did not train that chunk</source>
        <translation>el punto de control %1 tiene una parte de la reserva %2, que no entrenó ese fragmento</translation>
    </message>
    <message>
        <source>%1: checkpoint %2 has windows %3 to %4 of claim %5, which that claim did not train</source>
        <translation>%1: el punto de control %2 tiene las ventanas %3 a %4 de la reserva %5, que esa reserva no entrenó</translation>
    </message>
    <message>
        <source>epoch %1 counts %2 chunks as %3, it has %4</source>
        <translation>la época %1 cuenta %2 fragmentos como %3, tiene %4</translation>
    </message>
    <message>
        <source>problems found, see below</source>
        <translation>hay problemas, véase abajo</translation>
    </message>
    <message>
        <source>nothing is wrong in what could be read, but not everything could be inspected, see below</source>
        <translation>nada está mal en lo que se pudo leer, pero no todo se pudo inspeccionar, véase abajo</translation>
    </message>
    <message>
        <source>every chunk is where it should be, once, and the files are as recorded</source>
        <translation>cada fragmento está donde debe, una vez, y los archivos son los que se anotaron</translation>
    </message>
    <message>
        <source>every chunk is where it should be, once; weights not inspected</source>
        <translation>cada fragmento está donde debe, una vez; los pesos no se inspeccionaron</translation>
    </message>
    <message>
        <source>the tracker %1 is damaged (it has %2 %3, which no run can have); `furrowctl doctor %4 --repair` rebuilds what the checkpoints prove</source>
        <translation>el registro %1 está dañado (tiene %2 %3, que ninguna ejecución puede tener); `furrowctl doctor %4 --repair` reconstruye lo que prueban los puntos de control</translation>
    </message>
    <message>
        <source>%1 has locked the tracker; the run begins when it lets go. Let it go on or end it.</source>
        <translation>%1 ha bloqueado el registro; la ejecución empieza cuando lo suelte. Déjelo continuar o termínelo.</translation>
    </message>
    <message>
        <source>Nobody could write to the tracker for %1: %2 has locked it. The run goes on as soon as it lets go; let it go on or end it.</source>
        <translation>Nadie ha podido escribir en el registro durante %1: lo ha bloqueado %2. La ejecución sigue en cuanto lo suelte; déjelo continuar o termínelo.</translation>
    </message>
    <message>
        <source>it stood still inside a write to the tracker, for which everybody waits</source>
        <translation>se quedó parado dentro de una escritura en el registro, por la que todos esperan</translation>
    </message>
    <message>
        <source>it held the lock of the tracker and made no progress within its lease</source>
        <translation>retuvo el bloqueo del registro y no avanzó dentro de su plazo</translation>
    </message>
    <message>
        <source>the tracker is locked, and it made no progress within its lease</source>
        <translation>el registro está bloqueado y no avanzó dentro de su plazo</translation>
    </message>
    <message>
        <source>it stood still while others waited for it</source>
        <translation>se quedó parado mientras otros lo esperaban</translation>
    </message>
    <message>
        <source>%1 of checkpoint %2 is not what was written: its size differs</source>
        <translation>%1 del punto de control %2 no es lo que se escribió: su tamaño es otro</translation>
    </message>
    <message>
        <source>replica %1 stands on checkpoint %2, which the tracker does not have</source>
        <translation>la réplica %1 se apoya en el punto de control %2, que el registro no tiene</translation>
    </message>
    <message>
        <source>the tracker says that the data has %1 blocks, and it has rows of %2</source>
        <translation>el registro dice que los datos tienen %1 bloques, y tiene filas de %2</translation>
    </message>
    <message>
        <source>the tracker %1 has a view, a trigger or a virtual table, which Furrow makes none of: it was changed from outside; `furrowctl doctor %2 --repair` rebuilds what the checkpoints prove</source>
        <translation>el registro %1 tiene una vista, un disparador o una tabla virtual, que Furrow no crea: se modificó desde fuera; `furrowctl doctor %2 --repair` reconstruye lo que prueban los puntos de control</translation>
    </message>
    <message>
        <source>The folder of checkpoint %1 has files that Furrow did not write; they were kept.</source>
        <translation>La carpeta del punto de control %1 contiene archivos que Furrow no escribió; se conservaron.</translation>
    </message>
    <message>
        <source>%1 has been locked for too long by %2; let it go on or end it, then try again</source>
        <translation>%1 está bloqueado desde hace demasiado tiempo por %2; déjelo continuar o termínelo e inténtelo de nuevo</translation>
    </message>
    <message>
        <source>%1 has tracker version %2, which an older Furrow writes; this one writes version %3. While an older Furrow trains the run, use that one; when it has stopped, `furrowctl resume` of this one brings the tracker forward</source>
        <translation>%1 tiene la versión de registro %2, que escribe un Furrow anterior; este escribe la versión %3. Mientras un Furrow anterior entrene la ejecución, use aquel; cuando haya parado, `furrowctl resume` de este actualiza el registro</translation>
    </message>
    <message>
        <source>a process that cannot be seen from here</source>
        <translation>un proceso que no se ve desde aquí</translation>
    </message>
    <message>
        <source>process %1</source>
        <translation>el proceso %1</translation>
    </message>
    <message>
        <source>process %1 (%2)</source>
        <translation>el proceso %1 (%2)</translation>
    </message>
    <message>
        <source>The file %1 has grown to %2, because %3 reads an older state of the tracker and does not end. Let it go on or end it; nothing is lost, and the file shrinks then.</source>
        <translation>El archivo %1 ha crecido hasta %2, porque %3 lee un estado anterior del registro y no termina. Déjelo continuar o termínelo; no se pierde nada y después el archivo se reduce.</translation>
    </message>
    <message>
        <source>somebody</source>
        <translation>alguien</translation>
    </message>
    <message>
        <source>The learning rate goes on as planned: %1 now, %2 at the end.</source>
        <translation>La tasa de aprendizaje sigue según lo previsto: %1 ahora, %2 al final.</translation>
    </message>
    <message>
        <source>The learning rate was %1, goes on at %2, is %3 at most and %4 at the end (rate plan %5).</source>
        <translation>La tasa de aprendizaje era %1, sigue con %2, llega como máximo a %3 y termina en %4 (plan de tasa %5).</translation>
    </message>
    <message>
        <source>most of the text is not in the weights: %1 of %2 windows were left out, because their steps were not finite. Look at the text and the learning rate before you use them.</source>
        <translation>la mayor parte del texto no está en los pesos: se omitieron %1 de %2 ventanas porque sus pasos no eran finitos. Revise el texto y la tasa de aprendizaje antes de usarlos.</translation>
    </message>
    <message>
        <source>%1 of %2 windows were left out, because their steps were not finite</source>
        <translation>se omitieron %1 de %2 ventanas porque sus pasos no eran finitos</translation>
    </message>
    <message>
        <source>windows %1 are left out: they were not finite before and after a roll-back</source>
        <translation>se omiten las ventanas %1: no eran finitas ni antes ni después de una vuelta atrás</translation>
    </message>
    <message>
        <source>%1 steps in a row were not finite, again in %2: going back to the last checkpoint, and its windows %3 are left out.</source>
        <translation>%1 pasos seguidos no fueron finitos, otra vez en %2: se vuelve al último punto de control y se omiten sus ventanas %3.</translation>
    </message>
    <message>
        <source>%1 steps in a row were not finite in %2 from windows %3 on: going back to the last checkpoint, with the learning rate at %4 % of the schedule.</source>
        <translation>%1 pasos seguidos no fueron finitos en %2 desde las ventanas %3: se vuelve al último punto de control, con la tasa de aprendizaje al %4 % del plan.</translation>
    </message>
    <message>
        <source>training has diverged: the mean loss of %1 steps is %2, the best so far was %3. Stop it and go back to a checkpoint before that (resume --from-checkpoint) with a lower rate.</source>
        <translation>el entrenamiento ha divergido: la pérdida media de %1 pasos es %2, la mejor hasta ahora era %3. Deténgalo y vuelva a un punto de control anterior (resume --from-checkpoint) con una tasa menor.</translation>
    </message>
    <message>
        <source>the plain average</source>
        <translation>la media simple</translation>
    </message>
    <message>
        <source>the outer step</source>
        <translation>el paso externo</translation>
    </message>
    <message>
        <source>replica %1 alone</source>
        <translation>la réplica %1 sola</translation>
    </message>
    <message>
        <source>last round: the plain average is kept, there is no text to evaluate the outer step on</source>
        <translation>última ronda: se conserva la media simple, no hay texto con que evaluar el paso externo</translation>
    </message>
    <message>
        <source>last round: %1 is kept (%2)</source>
        <translation>última ronda: se conserva %1 (%2)</translation>
    </message>
    <message>
        <source>%1; a replica that evaluates better alone lacks what the others trained</source>
        <translation>%1; una réplica que por sí sola evalúa mejor no contiene lo que las otras entrenaron</translation>
    </message>
    <message>
        <source>%1 of epoch %2</source>
        <translation>%1 de la época %2</translation>
    </message>
    <message>
        <source>It keeps %1 chunks and trains none again.</source>
        <translation>Conserva %1 fragmentos y no vuelve a entrenar ninguno.</translation>
    </message>
    <message>
        <source>It keeps %1 chunks and trains %2 again: %3.</source>
        <translation>Conserva %1 fragmentos y vuelve a entrenar %2: %3.</translation>
    </message>
    <message>
        <source>%1 workers are still alive. What they save before they end is kept too.</source>
        <translation>%1 trabajadores siguen vivos. Lo que guarden antes de terminar también se conserva.</translation>
    </message>
    <message>
        <source>epoch %1: %2</source>
        <translation>época %1: %2</translation>
    </message>
    <message>
        <source>name has %1 characters, allowed are %2. Choose a shorter one.</source>
        <translation>name tiene %1 caracteres, se permiten %2. Elija uno más corto.</translation>
    </message>
    <message>
        <source>This program was built with SQLite %1, which can damage a tracker that several processes use (WAL-reset bug of 3.7.0 to 3.51.2): no tracker is written. Run packaging/native.sh and build it again.</source>
        <translation>Este programa se compiló con SQLite %1, que puede dañar un registro que usan varios procesos (fallo «WAL-reset» de 3.7.0 a 3.51.2): no se escribe ningún registro. Ejecute packaging/native.sh y compílelo de nuevo.</translation>
    </message>
    <message>
        <source>The list of duplicates of this run, %1, is not there or is damaged, and without it no block can be prepared. Resume the run: it makes the list again.</source>
        <translation>La lista de duplicados de esta ejecución, %1, falta o está dañada, y sin ella no se puede preparar ningún bloque. Reanude la ejecución: vuelve a crear la lista.</translation>
    </message>
    <message>
        <source>The list of duplicates %1 has version %2; this Furrow reads up to %3. Use a newer one.</source>
        <translation>La lista de duplicados %1 tiene la versión %2; este Furrow lee hasta la %3. Use uno más reciente.</translation>
    </message>
    <message>
        <source>Looking for duplicates was cancelled.</source>
        <translation>La búsqueda de duplicados se canceló.</translation>
    </message>
    <message>
        <source>looking for duplicates: %1 of about %2</source>
        <translation>buscando duplicados: %1 de unos %2</translation>
    </message>
    <message>
        <source>looking for duplicates: %1</source>
        <translation>buscando duplicados: %1</translation>
    </message>
    <message>
        <source>The tracker of %1 is damaged: %2. Nothing was changed. &apos;furrowctl audit %3&apos; says all that is wrong, &apos;furrowctl doctor %4 --repair&apos; rebuilds what the checkpoints prove.</source>
        <translation>El registro de %1 está dañado: %2. No se cambió nada. «furrowctl audit %3» dice todo lo que está mal; «furrowctl doctor %4 --repair» reconstruye lo que prueban los puntos de control.</translation>
    </message>
    <message>
        <source>%1 is &apos;%2&apos;, allowed is BLOCK:CHUNK, both from 0, such as 3:17.</source>
        <translation>%1 es «%2»; se admite BLOQUE:FRAGMENTO, ambos desde 0, como 3:17.</translation>
    </message>
    <message>
        <source>%1 has a name that leads out of the archive and was left out.</source>
        <translation>%1 tiene un nombre que sale del archivo comprimido y se ha omitido.</translation>
    </message>
    <message>
        <source>%1 has no name of a data file (.txt .csv .tsv .jsonl .json .parquet .arrow .warc) and was left out.</source>
        <translation>%1 no tiene nombre de archivo de datos (.txt .csv .tsv .jsonl .json .parquet .arrow .warc) y se ha omitido.</translation>
    </message>
    <message>
        <source>%1 stands in its archive twice, and which one counts is not said. Pack it again.</source>
        <translation>%1 está dos veces en su archivo comprimido y no consta cuál vale. Vuelva a empaquetarlo.</translation>
    </message>
    <message>
        <source>%1: %2 more files in it were left out.</source>
        <translation>%1: se han omitido otros %2 archivos que contiene.</translation>
    </message>
    <message>
        <source>%1 is Parquet that is compressed once more, so it cannot be read at any place. Unpack it from the archive.</source>
        <translation>%1 es Parquet comprimido una vez más, por lo que no puede leerse en cualquier posición. Extráigalo del archivo comprimido.</translation>
    </message>
    <message>
        <source>%1 is a link and was left out.</source>
        <translation>%1 es un enlace y se ha omitido.</translation>
    </message>
    <message>
        <source>%1 is encrypted. Unpack the archive and name the folder.</source>
        <translation>%1 está cifrado. Extraiga el archivo comprimido e indique la carpeta.</translation>
    </message>
    <message>
        <source>%1 is packed by method %2 of zip, which Furrow does not know. Unpack the archive and name the folder.</source>
        <translation>%1 está empaquetado con el método %2 de zip, que Furrow no conoce. Extraiga el archivo comprimido e indique la carpeta.</translation>
    </message>
    <message>
        <source>%1 is stored with holes (sparse) and was left out.</source>
        <translation>%1 está guardado con huecos (disperso) y se ha omitido.</translation>
    </message>
    <message>
        <source>%1 ends at byte %2, in the middle of an archive. It is cut off: fetch or write it again.</source>
        <translation>%1 termina en el byte %2, a mitad de un archivo comprimido. Está cortado: descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1: the archive ends %2 bytes before the end of this file. It is cut off: fetch or write it again.</source>
        <translation>%1: el archivo comprimido termina %2 bytes antes del final de este archivo. Está cortado: descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1 has another size than its archive says. The archive is damaged: fetch or write it again.</source>
        <translation>%1 tiene un tamaño distinto del que indica su archivo comprimido. El archivo comprimido está dañado: descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1 has another checksum than its archive says. The archive is damaged: fetch or write it again.</source>
        <translation>%1 tiene una suma de comprobación distinta de la que indica su archivo comprimido. El archivo comprimido está dañado: descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1 ends in the middle of its Arrow data, after %2 bytes. It is cut off: fetch or write it again.</source>
        <translation>%1 termina a mitad de sus datos de Arrow, tras %2 bytes. Está cortado: descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1 has damaged Arrow data before byte %2 (%3). Fetch or write it again.</source>
        <translation>%1 tiene datos de Arrow dañados antes del byte %2 (%3). Descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1 has a batch of %2 that would have to be in memory at once; %3 is the most. Write it again in smaller batches.</source>
        <translation>%1 tiene un lote de %2 que tendría que estar entero en memoria; el máximo es %3. Escríbalo de nuevo en lotes más pequeños.</translation>
    </message>
    <message>
        <source>%1 has a batch that needs more than %2 of memory. Write it again in smaller batches.</source>
        <translation>%1 tiene un lote que necesita más de %2 de memoria. Escríbalo de nuevo en lotes más pequeños.</translation>
    </message>
    <message>
        <source>%1 cannot be read as Arrow (%2). Fetch or write it again.</source>
        <translation>%1 no puede leerse como Arrow (%2). Descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1 has damaged Arrow data in batch %2 (a text that lies outside of it). Fetch or write it again.</source>
        <translation>%1 tiene datos de Arrow dañados en el lote %2 (un texto que queda fuera de él). Descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1 is an Arrow file, and this Furrow was built without Arrow. Convert it to jsonl, or build with FURROW_WITH_PARQUET=ON.</source>
        <translation>%1 es un archivo de Arrow y este Furrow se compiló sin Arrow. Conviértalo a jsonl o compile con FURROW_WITH_PARQUET=ON.</translation>
    </message>
    <message>
        <source>Another process wrote to %1 in the cache, or removed it.</source>
        <translation>Otro proceso escribió en %1 en la caché, o lo eliminó.</translation>
    </message>
    <message>
        <source>%1 cannot be written to. Check whether its disk is full or the file belongs to somebody else.</source>
        <translation>No se puede escribir en %1. Compruebe si el disco está lleno o si el archivo pertenece a otra persona.</translation>
    </message>
    <message>
        <source>%1 is one JSON document. Name the list of its rows and their text with text_column, such as data[].text, or write one object per line (jsonl).</source>
        <translation>%1 es un solo documento JSON. Indique con text_column la lista de sus filas y su texto, como data[].text, o escriba un objeto por línea (jsonl).</translation>
    </message>
    <message>
        <source>%1 is Feather of version 1, which Furrow cannot read. Write it again with version 2, or as Parquet.</source>
        <translation>%1 es Feather de la versión 1, que Furrow no puede leer. Escríbalo de nuevo con la versión 2 o como Parquet.</translation>
    </message>
    <message>
        <source>%1 is WARC: its plain texts are read (conversions, resources, and responses with status 200); HTML and all else is left out.</source>
        <translation>%1 es WARC: se leen sus textos sin formato (conversiones, recursos y respuestas con estado 200); el HTML y todo lo demás se omite.</translation>
    </message>
    <message>
        <source>%1 is a WebDataset: its files of one name are one row, and their endings are its columns.</source>
        <translation>%1 es un WebDataset: sus archivos de un mismo nombre son una fila y sus extensiones son las columnas.</translation>
    </message>
    <message>
        <source>%1 needs more than %2 of memory to be expanded. Pack it again with a smaller window or dictionary.</source>
        <translation>%1 necesita más de %2 de memoria para descomprimirse. Comprímalo de nuevo con una ventana o un diccionario más pequeños.</translation>
    </message>
    <message>
        <source>Reading %1 was cancelled.</source>
        <translation>Se canceló la lectura de %1.</translation>
    </message>
    <message>
        <source>%1: a part that was fetched just now is gone.</source>
        <translation>%1: ha desaparecido una parte que se acababa de descargar.</translation>
    </message>
    <message>
        <source>%1 is not a JSON list.</source>
        <translation>%1 no es una lista JSON.</translation>
    </message>
    <message>
        <source>%1: the member &apos;%2&apos; is not a list.</source>
        <translation>%1: el miembro «%2» no es una lista.</translation>
    </message>
    <message>
        <source>%1 has no member &apos;%2&apos; with the list of rows that text_column names.</source>
        <translation>%1 no tiene el miembro «%2» con la lista de filas que indica text_column.</translation>
    </message>
    <message>
        <source>%1 ends in the middle of its JSON, after %2 bytes. It is cut off: fetch or write it again.</source>
        <translation>%1 termina a mitad de su JSON, tras %2 bytes. Está cortado: descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1 is broken JSON before byte %2. Write it again.</source>
        <translation>%1 es JSON incorrecto antes del byte %2. Escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1 ends in the middle of what begins at byte %2. It is cut off: fetch or write it again.</source>
        <translation>%1 termina a mitad de lo que empieza en el byte %2. Está cortado: descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1 has no row that can be read at byte %2, and no end of its rows. Fetch or write it again.</source>
        <translation>%1 no tiene en el byte %2 ni una fila legible ni el final de sus filas. Descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1 has the member &apos;%2&apos; with its rows a second time, after the first. Which one counts is not said: Furrow has read the first, Python and others take the last. Rename or remove one of them.</source>
        <translation>%1 tiene el miembro «%2» con sus filas por segunda vez, detrás del primero. No se dice cuál vale: Furrow ha leído el primero; Python y otros toman el último. Cambie el nombre de uno o quítelo.</translation>
    </message>
    <message>
        <source>%1 is damaged before byte %2 (%3). Fetch or write it again.</source>
        <translation>%1 está dañado antes del byte %2 (%3). Descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1 has a damaged zip directory (%2). Fetch or write it again.</source>
        <translation>%1 tiene un directorio zip dañado (%2). Descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1 has no zip directory at its end, after %2 bytes. It is cut off: fetch or write it again.</source>
        <translation>%1 no tiene directorio zip al final, tras %2 bytes. Está cortado: descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1 is one part of a zip archive in several. Join them first.</source>
        <translation>%1 es una parte de un archivo zip dividido en varias. Únalas primero.</translation>
    </message>
    <message>
        <source>%1 has a directory of more than 64 MiB. Unpack it and name the folder.</source>
        <translation>%1 tiene un directorio de más de 64 MiB. Extráigalo e indique la carpeta.</translation>
    </message>
    <message>
        <source>%1 Begin a new run with another one.</source>
        <translation>%1 Comience una ejecución nueva con otro.</translation>
    </message>
    <message>
        <source>feeder: %1</source>
        <translation>alimentador: %1</translation>
    </message>
    <message>
        <source>%1 is %2, but the data has the blocks 0 to %3.</source>
        <translation>%1 es %2, pero los datos tienen los bloques 0 a %3.</translation>
    </message>
    <message>
        <source>%1 is %2, but block %3 has the chunks 0 to %4.</source>
        <translation>%1 es %2, pero el bloque %3 tiene los fragmentos 0 a %4.</translation>
    </message>
    <message>
        <source>weights of %1 checkpoints that the run itself removed, or left, while they were inspected</source>
        <translation>pesos de %1 puntos de control que la propia ejecución eliminó, o dejó atrás, mientras se inspeccionaban</translation>
    </message>
    <message>
        <source>the tracker was older than the checkpoints and %1</source>
        <translation>el registro era más antiguo que los puntos de control y %1</translation>
    </message>
    <message>
        <source>taken forward: %1 checkpoints with %2 parts were added from their files</source>
        <translation>puesto al día: se añadieron %1 puntos de control con %2 partes a partir de sus archivos</translation>
    </message>
    <message>
        <source>The limit of %1 optimiser steps is reached: %2 are done. The attempt would end at once; raise the limit, or write 0 for none.</source>
        <translation>Ya se alcanzó el límite de %1 pasos del optimizador: hay %2 hechos. El intento acabaría enseguida; suba el límite o escriba 0 para no poner ninguno.</translation>
    </message>
    <message>
        <source>The limit of %1 tokens is reached: %2 are done. The attempt would end at once; raise the limit, or write 0 for none.</source>
        <translation>Ya se alcanzó el límite de %1 tokens: hay %2 hechos. El intento acabaría enseguida; suba el límite o escriba 0 para no poner ninguno.</translation>
    </message>
    <message>
        <source>The limit of %1 hours is reached: %2 are done. The attempt would end at once; raise the limit, or write 0 for none.</source>
        <translation>Ya se alcanzó el límite de %1 horas: hay %2 hechas. El intento acabaría enseguida; suba el límite o escriba 0 para no poner ninguno.</translation>
    </message>
    <message>
        <source>1 chunk whose work was lost: it is trained again</source>
        <translation>1 fragmento cuyo trabajo se perdió: se entrena de nuevo</translation>
    </message>
    <message>
        <source>%1 chunks whose work was lost: they are trained again</source>
        <translation>%1 fragmentos cuyo trabajo se perdió: se entrenan de nuevo</translation>
    </message>
    <message>
        <source>1 chunk claimed by a worker that is gone</source>
        <translation>1 fragmento reservado por un trabajador que ya no existe</translation>
    </message>
    <message>
        <source>%1 chunks claimed by workers that are gone</source>
        <translation>%1 fragmentos reservados por trabajadores que ya no existen</translation>
    </message>
    <message>
        <source>it is nested deeper than %1 levels</source>
        <translation>está anidado a más de %1 niveles</translation>
    </message>
    <message>
        <source>it is empty</source>
        <translation>está vacío</translation>
    </message>
    <message>
        <source>it is not JSON at byte %1</source>
        <translation>deja de ser JSON en el byte %1</translation>
    </message>
    <message>
        <source>it has a number that is too large to be read</source>
        <translation>tiene un número demasiado grande para leerlo</translation>
    </message>
    <message>
        <source>is not a list</source>
        <translation>no es una lista</translation>
    </message>
    <message>
        <source>is not a whole number</source>
        <translation>no es un número entero</translation>
    </message>
    <message>
        <source>is %1, which it cannot be</source>
        <translation>es %1, lo que no es posible</translation>
    </message>
    <message>
        <source>is not a JSON object</source>
        <translation>no es un objeto JSON</translation>
    </message>
    <message>
        <source>is neither true nor false</source>
        <translation>no es ni true ni false</translation>
    </message>
    <message>
        <source>is not a text</source>
        <translation>no es un texto</translation>
    </message>
    <message>
        <source>is not a number</source>
        <translation>no es un número</translation>
    </message>
    <message>
        <source>it has no key &apos;%1&apos;</source>
        <translation>no tiene la clave «%1»</translation>
    </message>
    <message>
        <source>it is not a JSON object</source>
        <translation>no es un objeto JSON</translation>
    </message>
    <message>
        <source>its key &apos;%1&apos; %2</source>
        <translation>su clave «%1» %2</translation>
    </message>
    <message>
        <source>A block plan of this run cannot be read: %1. Restore tracker.sqlite from a copy of the run.</source>
        <translation>No se puede leer un plan de bloque de esta ejecución: %1. Restaure tracker.sqlite de una copia de la ejecución.</translation>
    </message>
    <message>
        <source>A block plan of this run does not add up. Restore tracker.sqlite from a copy of the run.</source>
        <translation>Un plan de bloque de esta ejecución no cuadra. Restaure tracker.sqlite de una copia de la ejecución.</translation>
    </message>
    <message>
        <source>is not the name of a character</source>
        <translation>no es el nombre de un carácter</translation>
    </message>
    <message>
        <source>is a compression that this Furrow does not know</source>
        <translation>es una compresión que este Furrow no conoce</translation>
    </message>
    <message>
        <source>is a format that this Furrow does not know</source>
        <translation>es un formato que este Furrow no conoce</translation>
    </message>
    <message>
        <source>The data manifest in run.json cannot be read: %1. Restore run.json from a copy of the run.</source>
        <translation>No se puede leer el manifiesto de datos de run.json: %1. Restaure run.json de una copia de la ejecución.</translation>
    </message>
    <message>
        <source>%1 cannot be used: %2. Restore it from a copy of the run.</source>
        <translation>No se puede usar %1: %2. Restáurelo de una copia de la ejecución.</translation>
    </message>
    <message>
        <source>is of a block that no run can have</source>
        <translation>es de un bloque que ninguna ejecución puede tener</translation>
    </message>
    <message>
        <source>is not a chunk that a run can have</source>
        <translation>no es un fragmento que una ejecución pueda tener</translation>
    </message>
    <message>
        <source>names a path outside the folder</source>
        <translation>nombra una ruta fuera de la carpeta</translation>
    </message>
    <message>
        <source>manifest.json cannot be used: %1.</source>
        <translation>no se puede usar manifest.json: %1.</translation>
    </message>
    <message>
        <source>its state.json says %1 %2 and its manifest.json %3.</source>
        <translation>su state.json dice %1 %2 y su manifest.json %3.</translation>
    </message>
    <message>
        <source>its state.json names other parents than its manifest.json.</source>
        <translation>su state.json nombra padres distintos de los de su manifest.json.</translation>
    </message>
    <message>
        <source>its state.json counts more steps or tokens since its base than in all.</source>
        <translation>su state.json cuenta más pasos o tokens desde su base que en total.</translation>
    </message>
    <message>
        <source>its state.json counts more steps, tokens or samples of its own than in all.</source>
        <translation>su state.json cuenta más pasos, tokens o muestras propios que en total.</translation>
    </message>
    <message>
        <source>state.json cannot be used: %1.</source>
        <translation>no se puede usar state.json: %1.</translation>
    </message>
    <message>
        <source>checkpoint %1 is damaged: state.json cannot be used: %2.</source>
        <translation>el punto de control %1 está dañado: no se puede usar state.json: %2.</translation>
    </message>
    <message>
        <source>checkpoint %1 cannot be used: tensor &apos;%2&apos; of its weights holds NaN or Inf, though the hashes of its files fit.</source>
        <translation>no se puede usar el punto de control %1: el tensor «%2» de sus pesos contiene NaN o Inf, aunque los hashes de sus archivos coinciden.</translation>
    </message>
    <message>
        <source>block %1: %2 It was put aside and is prepared again from the source when it is needed.</source>
        <translation>bloque %1: %2 Se apartó y se preparará de nuevo desde la fuente cuando haga falta.</translation>
    </message>
    <message>
        <source>checkpoint %1 was removed by the keep policy and its folder is there; the next resume takes it back</source>
        <translation>la política de conservación retiró el punto de control %1, pero su carpeta está ahí; la próxima reanudación lo recupera</translation>
    </message>
    <message>
        <source>%1 of checkpoint %2 is not what Furrow wrote, so the folder was not deleted.</source>
        <translation>%1 del punto de control %2 no es lo que Furrow escribió, así que la carpeta no se borró.</translation>
    </message>
    <message>
        <source>Checkpoint %1 was removed, and its folder is there again; it was left as it is: %2</source>
        <translation>El punto de control %1 se había retirado y su carpeta está ahí de nuevo; se dejó como está: %2</translation>
    </message>
    <message>
        <source>Checkpoint %1 had been removed and is there again: it is the run&apos;s again, and pinned.</source>
        <translation>El punto de control %1 se había retirado y está ahí de nuevo: vuelve a ser de la ejecución y queda fijado.</translation>
    </message>
    <message>
        <source>an older merge</source>
        <translation>una fusión anterior</translation>
    </message>
    <message>
        <source>replica %1</source>
        <translation>réplica %1</translation>
    </message>
    <message>
        <source>all replicas, merged</source>
        <translation>todas las réplicas, fusionadas</translation>
    </message>
    <message>
        <source>a merge with %1 of %2 tokens; others trained what is not in it</source>
        <translation>una fusión con %1 de %2 tokens; otras entrenaron lo que no está en ella</translation>
    </message>
    <message>
        <source>replica %1&apos;s own weights: %2 of %3 tokens; not merged with the others</source>
        <translation>los pesos propios de la réplica %1: %2 de %3 tokens; no fusionados con los demás</translation>
    </message>
    <message>
        <source>checkpoint %1 is the newest of replica %2 and is marked as removed, which the keep policy never does</source>
        <translation>el punto de control %1 es el más reciente de la réplica %2 y está marcado como retirado, cosa que la política de conservación nunca hace</translation>
    </message>
    <message>
        <source>replica %1 should stand on checkpoint %2 or a newer one, and stands on an older one: its row was changed from outside</source>
        <translation>la réplica %1 debería estar en el punto de control %2 o en uno más reciente y está en uno anterior: su fila se cambió desde fuera</translation>
    </message>
    <message>
        <source>the end of the epoch was reached</source>
        <translation>se alcanzó el final de la época</translation>
    </message>
    <message>
        <source>the requested number of blocks is complete</source>
        <translation>está completo el número de bloques pedido</translation>
    </message>
    <message>
        <source>the requested number of steps was reached</source>
        <translation>se alcanzó el número de pasos pedido</translation>
    </message>
    <message>
        <source>the requested number of tokens was reached</source>
        <translation>se alcanzó el número de tokens pedido</translation>
    </message>
    <message>
        <source>the requested hours are over</source>
        <translation>pasaron las horas pedidas</translation>
    </message>
    <message>
        <source>all requested epochs are trained</source>
        <translation>están entrenadas todas las épocas pedidas</translation>
    </message>
    <message>
        <source>a person stopped it</source>
        <translation>la detuvo una persona</translation>
    </message>
    <message>
        <source>an error stopped it</source>
        <translation>la detuvo un error</translation>
    </message>
    <message>
        <source>it was interrupted</source>
        <translation>fue interrumpida</translation>
    </message>
    <message>
        <source>the rest of the data cannot be trained as it is</source>
        <translation>el resto de los datos no se puede entrenar tal como está</translation>
    </message>
    <message>
        <source>Reading the frozen weights</source>
        <translation>Leyendo los pesos congelados</translation>
    </message>
    <message>
        <source>is not a SHA-256</source>
        <translation>no es un SHA-256</translation>
    </message>
    <message>
        <source>checkpoint %1 was written by a newer Furrow; this one reads formats 1 and 2.</source>
        <translation>el punto de control %1 lo escribió un Furrow más reciente; este lee los formatos 1 y 2.</translation>
    </message>
    <message>
        <source>checkpoint %1 holds the pairs of LoRA alone; the weights beside them are missing: %2 is not there. It was in checkpoints/frozen of run %3. Copy it there, or into the folder of the checkpoint.</source>
        <translation>el punto de control %1 solo tiene los pares de LoRA; faltan los pesos que van con ellos: no se encuentra %2. Estaba en checkpoints/frozen de la ejecución %3. Cópielo ahí, o a la carpeta del punto de control.</translation>
    </message>
    <message>
        <source>%1 holds the secret of the environment variable %2, which would be kept in the run and shown everywhere. Take it out: what needs the secret reads it from the environment.</source>
        <translation>%1 contiene el secreto de la variable de entorno %2, que quedaría guardado en la ejecución y se vería en todas partes. Quítelo: lo que necesita el secreto lo lee del entorno.</translation>
    </message>
    <message>
        <source>The folder of the run holds the secret of the environment variable %1, which would be shown everywhere. Name another folder.</source>
        <translation>La carpeta de la ejecución contiene el secreto de la variable de entorno %1, que se vería en todas partes. Indique otra carpeta.</translation>
    </message>
    <message>
        <source>the chunks of block %1 that the parent run trained are written as nobody writes them: their row was changed</source>
        <translation>los fragmentos del bloque %1 que entrenó la ejecución padre están escritos como nadie los escribe: su fila se modificó</translation>
    </message>
    <message>
        <source>%1: the windows that claim %2 had, trained or left out are written as nobody writes them: its row was changed</source>
        <translation>%1: las ventanas que la reserva %2 tenía, entrenó u omitió están escritas como nadie las escribe: su fila se modificó</translation>
    </message>
    <message>
        <source>a person killed it</source>
        <translation>una persona forzó su cierre</translation>
    </message>
    <message>
        <source>The learning rate jumps at once from %1 to %2, is %3 at most and %4 at the end (rate plan %5).</source>
        <translation>La tasa de aprendizaje salta de golpe de %1 a %2, es de %3 como máximo y de %4 al final (plan de tasa %5).</translation>
    </message>
    <message>
        <source>the merge, as worker %1 evaluated it</source>
        <translation>la fusión, tal como la evaluó el trabajador %1</translation>
    </message>
    <message>
        <source>worker %1, while it trained</source>
        <translation>el trabajador %1, mientras entrenaba</translation>
    </message>
    <message>
        <source>cannot write in %1</source>
        <translation>no se puede escribir en %1</translation>
    </message>
    <message>
        <source>%1 has a second name elsewhere (a hard link, as &apos;cp -al&apos; makes), and what Furrow writes would change the file of that name too. Nothing was changed. Make a copy of the run folder by &apos;cp -a --reflink=auto&apos;, and go on with the copy.</source>
        <translation>%1 tiene un segundo nombre en otro lugar (un enlace duro, como los que crea «cp -al»), y lo que Furrow escribe cambiaría también el archivo de ese nombre. No se ha cambiado nada. Copie la carpeta de la ejecución con «cp -a --reflink=auto» y continúe con la copia.</translation>
    </message>
    <message>
        <source>cannot open %1: %2. Remove it, or ask who made it to.</source>
        <translation>no se puede abrir %1: %2. Elimínelo o pídaselo a quien lo creó.</translation>
    </message>
    <message>
        <source>another process</source>
        <translation>otro proceso</translation>
    </message>
    <message>
        <source>waits for the lock of the cache, %1, held by %2</source>
        <translation>espera el bloqueo de la caché, %1, que tiene %2</translation>
    </message>
    <message>
        <source>Waiting for the lock of the cache, %1, was cancelled.</source>
        <translation>Se canceló la espera del bloqueo de la caché, %1.</translation>
    </message>
    <message>
        <source>The cache cannot be used: its lock, %1, is held by %2. Let it go on or end it, then try again.</source>
        <translation>No se puede usar la caché: su bloqueo, %1, lo tiene %2. Déjelo continuar o termínelo y vuelva a intentarlo.</translation>
    </message>
    <message>
        <source>%1 has carriage returns without a line feed outside of quotes, at which some programs end a record and others do not. Convert them to line feeds (tr &apos;\r&apos; &apos;\n&apos; &lt; FILE), or put quotes around the fields that hold them.</source>
        <translation>%1 tiene retornos de carro sin salto de línea fuera de las comillas, donde unos programas terminan un registro y otros no. Conviértalos en saltos de línea (tr &apos;\r&apos; &apos;\n&apos; &lt; ARCHIVO) o ponga entre comillas los campos que los contienen.</translation>
    </message>
    <message>
        <source>%1 is not running: %2 holds %3 and is not a supervisor of the run. End it, or wait until it lets go.</source>
        <translation>%1 no está en marcha: %2 tiene bloqueado %3 y no es un supervisor de la ejecución. Termínelo o espere a que lo suelte.</translation>
    </message>
    <message>
        <source>%1 The run is still being trained; &apos;furrowctl kill %2&apos; ends it without its tracker.</source>
        <translation>%1 La ejecución se sigue entrenando; «furrowctl kill %2» la termina sin su registro.</translation>
    </message>
    <message>
        <source>Another folder lies at %1 than the one in which this run was being trained, so the attempt ends; nothing more is written or deleted in it. Put the folder of the run back in its place and resume.</source>
        <translation>En %1 hay una carpeta distinta de aquella en la que se entrenaba esta ejecución, así que el intento termina; no se escribe ni se borra nada más en ella. Devuelva la carpeta de la ejecución a su lugar y reanude.</translation>
    </message>
    <message>
        <source>Another folder lies at %1 than the one that this attempt began with, so the attempt ends; nothing more is written or deleted in it. Put the right folder back in its place and resume.</source>
        <translation>En %1 hay una carpeta distinta de aquella con la que empezó este intento, así que el intento termina; no se escribe ni se borra nada más en ella. Devuelva la carpeta correcta a su lugar y reanude.</translation>
    </message>
    <message>
        <source>%1 was deleted or replaced while the run was being trained, so the attempt ends. Put the tracker of the run back and resume; or &apos;furrowctl doctor %2 --repair&apos; makes it anew from what the checkpoints prove.</source>
        <translation>%1 se borró o se sustituyó mientras se entrenaba la ejecución, así que el intento termina. Devuelva el registro de la ejecución a su lugar y reanude; o «furrowctl doctor %2 --repair» lo rehace a partir de lo que prueban los puntos de control.</translation>
    </message>
    <message>
        <source>%1 was deleted or replaced while the run was being trained, so the attempt ends. It is a part of the tracker. What it held was moved into the tracker first; &apos;furrowctl resume %2&apos; goes on.</source>
        <translation>%1 se borró o se sustituyó mientras se entrenaba la ejecución, así que el intento termina. Es una parte del registro. Antes, lo que contenía se pasó al registro; «furrowctl resume %2» continúa.</translation>
    </message>
    <message>
        <source>%1 could not be brought up to date: another process reads it.</source>
        <translation>No se pudo poner al día %1: otro proceso lo está leyendo.</translation>
    </message>
    <message>
        <source>%1 is not of this tracker. Nothing of it was deleted, it was moved to %2.</source>
        <translation>%1 no es de este registro. No se borró nada de él; se movió a %2.</translation>
    </message>
    <message>
        <source>what was asked of the run, the plan of its learning rate, and how attempts and worker processes ended</source>
        <translation>lo que se pidió de la ejecución, el plan de su tasa de aprendizaje, y cómo terminaron los intentos y los procesos de trabajo</translation>
    </message>
    <message>
        <source>The shipped file %1 is missing. Install or build Furrow again.</source>
        <translation>Falta el archivo incluido %1. Instale o compile Furrow de nuevo.</translation>
    </message>
    <message>
        <source>The folder %1 is not there: it was moved or deleted, or its disk is not mounted.</source>
        <translation>Falta la carpeta %1: se movió o se borró, o su disco no está montado.</translation>
    </message>
    <message>
        <source>Attempt %1 ended at %2, for this reason: %3</source>
        <translation>El intento %1 terminó (%2) por este motivo: %3</translation>
    </message>
    <message>
        <source>of weights with %1 steps, on %2 tokens of held-out text; %3</source>
        <translation>de pesos con %1 pasos, sobre %2 tokens de texto reservado; %3</translation>
    </message>
    <message>
        <source>of weights with %1 steps; %2</source>
        <translation>de pesos con %1 pasos; %2</translation>
    </message>
    <message>
        <source>Training is not possible here: %1 is missing. Install Furrow whole, or build it with libtorch (packaging/run.sh).</source>
        <translation>Aquí no se puede entrenar: falta %1. Instale Furrow completo o compílelo con libtorch (packaging/run.sh).</translation>
    </message>
    <message>
        <source>stopping rules: %1</source>
        <translation>reglas de parada: %1</translation>
    </message>
    <message>
        <source>the runs have different data</source>
        <translation>las ejecuciones tienen datos distintos</translation>
    </message>
    <message>
        <source>the blocks have %1 and %2 samples</source>
        <translation>los bloques tienen %1 y %2 muestras</translation>
    </message>
    <message>
        <source>the chunks are cut differently</source>
        <translation>los fragmentos se cortan de otra manera</translation>
    </message>
    <message>
        <source>the tokenizers differ, so losses per token cannot be compared</source>
        <translation>los tokenizadores son distintos, así que las pérdidas por token no se pueden comparar</translation>
    </message>
    <message>
        <source>%1 and %2 have different tokenizers: their losses are not of the same tokens.</source>
        <translation>%1 y %2 tienen tokenizadores distintos: sus pérdidas no son de los mismos tokens.</translation>
    </message>
    <message>
        <source>%1 and %2 were evaluated on different text: their eval losses say nothing of each other.</source>
        <translation>%1 y %2 se evaluaron con textos distintos: sus pérdidas de evaluación no dicen nada una de la otra.</translation>
    </message>
    <message>
        <source>%1 was evaluated on %2 tokens of the held-out text, %3 on %4.</source>
        <translation>%1 se evaluó con %2 tokens del texto reservado, %3 con %4.</translation>
    </message>
    <message>
        <source>cannot open %1</source>
        <translation>no se puede abrir %1</translation>
    </message>
    <message>
        <source>it is a link</source>
        <translation>es un enlace</translation>
    </message>
    <message>
        <source>the chat template is larger than 1 MiB</source>
        <translation>la plantilla de chat es mayor de 1 MiB</translation>
    </message>
    <message>
        <source>the chat template refuses this: %1</source>
        <translation>la plantilla de chat rechaza esto: %1</translation>
    </message>
    <message>
        <source>it is too large</source>
        <translation>es demasiado grande</translation>
    </message>
    <message>
        <source>the chat template fails in line %1: %2</source>
        <translation>la plantilla de chat falla en la línea %1: %2</translation>
    </message>
    <message>
        <source>%1 has %2, an address with a password or a signature in it, which would be kept in the run. Put the whole address into the environment variable FURROW_DATA_SECRET, also when the run is resumed, and give here %3.</source>
        <translation>%1 tiene %2, una dirección con una contraseña o una firma, que quedaría guardada en la ejecución. Ponga la dirección completa en la variable de entorno FURROW_DATA_SECRET, también al reanudar la ejecución, e indique aquí %3.</translation>
    </message>
    <message>
        <source>%1 is empty, allowed is at least one file, folder, hf://, https://, s3:// or gs:// source.</source>
        <translation>%1 está vacío; se admite al menos un archivo, una carpeta o una fuente hf://, https://, s3:// o gs://.</translation>
    </message>
    <message>
        <source>its server promises no SHA-256 of it; what comes is compared with its ETag or Last-Modified</source>
        <translation>su servidor no promete un SHA-256; lo que llega se compara con su ETag o Last-Modified</translation>
    </message>
    <message>
        <source>%1 is taken as %2 text and is converted to UTF-8. It could as well be %3: name the right one with --encoding.</source>
        <translation>%1 se toma como texto %2 y se convierte a UTF-8. También podría ser %3: indique el correcto con --encoding.</translation>
    </message>
    <message>
        <source>%1, which reads %2 where %3 reads %4</source>
        <translation>%1, que lee %2 donde %3 lee %4</translation>
    </message>
    <message>
        <source>the store&apos;s list cannot be read</source>
        <translation>no se puede leer la lista del almacén</translation>
    </message>
    <message>
        <source>%1 cannot prove that it is this server: %2. Nothing is read from it. CURL_CA_BUNDLE names a file of further certificates to trust.</source>
        <translation>%1 no puede demostrar que es este servidor: %2. No se lee nada de él. CURL_CA_BUNDLE indica un archivo con más certificados de confianza.</translation>
    </message>
    <message>
        <source>Another run fetches %1 and stands still (%2), so it is fetched here too.</source>
        <translation>Otra ejecución descarga %1 y está detenida (%2), así que se descarga aquí también.</translation>
    </message>
    <message>
        <source>another run fetches %1 (%2)</source>
        <translation>otra ejecución descarga %1 (%2)</translation>
    </message>
    <message>
        <source>%1. Check the network; https_proxy names a proxy.</source>
        <translation>%1. Compruebe la red; https_proxy indica un proxy.</translation>
    </message>
    <message>
        <source>%1: the server answered %2.</source>
        <translation>%1: el servidor respondió %2.</translation>
    </message>
    <message>
        <source>%1 leads to %2, which is not encrypted (https), and is not followed.</source>
        <translation>%1 lleva a %2, que no está cifrado (https), y no se sigue.</translation>
    </message>
    <message>
        <source>%1: the store&apos;s list does not end, page %2 leads back or on for ever. The store is at fault.</source>
        <translation>%1: la lista del almacén no termina; la página %2 vuelve atrás o sigue sin fin. El fallo es del almacén.</translation>
    </message>
    <message>
        <source>%1: its server says neither how long the file is nor where it ends, so nobody could see that the end is missing. Download it and name the file.</source>
        <translation>%1: su servidor no dice ni cuánto mide el archivo ni dónde acaba, así que nadie vería que falta el final. Descárguelo e indique el archivo.</translation>
    </message>
    <message>
        <source>%1 is another file now: it has other bytes than it had (SHA-256).</source>
        <translation>%1 es ahora otro archivo: sus bytes no son los que eran (SHA-256).</translation>
    </message>
    <message>
        <source>checking %1: %2 of %3</source>
        <translation>comprobando %1: %2 de %3</translation>
    </message>
    <message>
        <source>checking file %1, %2: %3 of %4</source>
        <translation>comprobando el archivo %1, %2: %3 de %4</translation>
    </message>
    <message>
        <source>downloading %1: %2 at %3/s</source>
        <translation>descargando %1: %2 a %3/s</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 de %2</translation>
    </message>
    <message>
        <source>hf://%1 has no file with text (txt, csv, tsv, jsonl, parquet, zip, tar).</source>
        <translation>hf://%1 no tiene ningún archivo con texto (txt, csv, tsv, jsonl, parquet, zip, tar).</translation>
    </message>
    <message>
        <source>%1 names no bucket. The form is s3://bucket/key or gs://bucket/key; the key may be a file, a folder that ends in /, or a pattern with *.</source>
        <translation>%1 no nombra ningún bucket. La forma es s3://bucket/clave o gs://bucket/clave; la clave puede ser un archivo, una carpeta que acaba en / o un patrón con *.</translation>
    </message>
    <message>
        <source>%1 has to be downloaded as a whole, and there is no cache for it.</source>
        <translation>%1 debe descargarse entero y no hay caché para ello.</translation>
    </message>
    <message>
        <source>%1 has a name that is not UTF-8, or no ETag, and was left out.</source>
        <translation>%1 tiene un nombre que no es UTF-8, o no tiene ETag, y se dejó fuera.</translation>
    </message>
    <message>
        <source>%1: %2. Its server cannot send parts of it, or gives its state no name, so it is downloaded as a whole, from its beginning each time, and known by its SHA-256.</source>
        <translation>%1: %2. Su servidor no puede enviar partes, o no da nombre a su estado, así que se descarga entero, desde el principio cada vez, y se reconoce por su SHA-256.</translation>
    </message>
    <message>
        <source>%1: %2 files, %3, each known by its ETag.</source>
        <translation>%1: %2 archivos, %3, cada uno reconocido por su ETag.</translation>
    </message>
    <message>
        <source>%1: %2, known by %3 (ETag or Last-Modified) and by its SHA-256.</source>
        <translation>%1: %2, reconocido por %3 (ETag o Last-Modified) y por su SHA-256.</translation>
    </message>
    <message>
        <source>%1: %2, known by %3 (ETag or Last-Modified).</source>
        <translation>%1: %2, reconocido por %3 (ETag o Last-Modified).</translation>
    </message>
    <message>
        <source>%1 is another file now: its server calls it %2, before %3 (ETag or Last-Modified).</source>
        <translation>%1 es ahora otro archivo: su servidor lo llama %2, antes %3 (ETag o Last-Modified).</translation>
    </message>
    <message>
        <source>%1 may not be read (%2). Keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile AWS_PROFILE in ~/.aws; without them only what is open to all can be read. Keys for a time may have run out.</source>
        <translation>No se permite leer %1 (%2). Las claves vienen de AWS_ACCESS_KEY_ID y AWS_SECRET_ACCESS_KEY, o del perfil AWS_PROFILE en ~/.aws; sin ellas solo puede leerse lo abierto a todos. Las claves temporales pueden haber caducado.</translation>
    </message>
    <message>
        <source>%1 may not be read (%2). CLOUDSDK_AUTH_ACCESS_TOKEN holds the token that asks (gcloud auth print-access-token), which lasts an hour; without it only what is open to all can be read.</source>
        <translation>No se permite leer %1 (%2). CLOUDSDK_AUTH_ACCESS_TOKEN contiene el token con que se pide (gcloud auth print-access-token), que dura una hora; sin él solo puede leerse lo abierto a todos.</translation>
    </message>
    <message>
        <source>%1 may not be read (%2). Where it needs a password or a signature, put the whole address with it into FURROW_DATA_SECRET; a signature may have run out.</source>
        <translation>No se permite leer %1 (%2). Si necesita una contraseña o una firma, ponga la dirección completa con ella en FURROW_DATA_SECRET; una firma puede haber caducado.</translation>
    </message>
    <message>
        <source>%1 does not exist (%2). Check the address.</source>
        <translation>%1 no existe (%2). Compruebe la dirección.</translation>
    </message>
    <message>
        <source>%1 does not exist. Check the path, or write hf://owner/name for a data set of the hub, https://... for a file of a server.</source>
        <translation>%1 no existe. Compruebe la ruta, o escriba hf://propietario/nombre para un conjunto de datos del hub, https://... para un archivo de un servidor.</translation>
    </message>
    <message>
        <source>is missing</source>
        <translation>falta</translation>
    </message>
    <message>
        <source>is not a list of whole numbers</source>
        <translation>no es una lista de números enteros</translation>
    </message>
    <message>
        <source>is not a list of texts</source>
        <translation>no es una lista de textos</translation>
    </message>
    <message>
        <source>is not an object</source>
        <translation>no es un objeto</translation>
    </message>
    <message>
        <source>key %1 %2</source>
        <translation>la clave %1 %2</translation>
    </message>
    <message>
        <source>is not known here and might change what the model computes</source>
        <translation>no se conoce aquí y podría cambiar lo que calcula el modelo</translation>
    </message>
    <message>
        <source>is &apos;%1&apos;, which is not known here</source>
        <translation>es «%1», que no se conoce aquí</translation>
    </message>
    <message>
        <source>is false, which is not known here</source>
        <translation>es false, que no se conoce aquí</translation>
    </message>
    <message>
        <source>is not above 0</source>
        <translation>no es mayor que 0</translation>
    </message>
    <message>
        <source>does not name one type for each layer</source>
        <translation>no nombra un tipo para cada capa</translation>
    </message>
    <message>
        <source>has &apos;%1&apos;, which is not known here</source>
        <translation>tiene «%1», que no se conoce aquí</translation>
    </message>
    <message>
        <source>is not 0, which is not known here</source>
        <translation>no es 0, lo que no se conoce aquí</translation>
    </message>
    <message>
        <source>is not 1: some layers have no experts, which is not known here</source>
        <translation>no es 1: algunas capas no tienen expertos, lo que no se conoce aquí</translation>
    </message>
    <message>
        <source>names layers without experts, which is not known here</source>
        <translation>nombra capas sin expertos, lo que no se conoce aquí</translation>
    </message>
    <message>
        <source>is set, which is not known here</source>
        <translation>está definida, lo que no se conoce aquí</translation>
    </message>
    <message>
        <source>scales the positions of layers with a window, which is not known here</source>
        <translation>escala las posiciones de capas con ventana, lo que no se conoce aquí</translation>
    </message>
    <message>
        <source>is set, which is not known here for phi3</source>
        <translation>está definida, lo que no se conoce aquí para phi3</translation>
    </message>
    <message>
        <source>model_type is &apos;%1&apos;; known are %2</source>
        <translation>model_type es «%1»; se conocen %2</translation>
    </message>
    <message>
        <source>this model has no Hugging Face layout: GPT-2 needs learned positions, layernorm, gelu and as many key-value heads as heads; Llama and Mixtral need rope, rmsnorm and swiglu</source>
        <translation>este modelo no tiene una disposición de Hugging Face: GPT-2 necesita posiciones aprendidas, layernorm, gelu y tantas cabezas de clave-valor como cabezas; Llama y Mixtral necesitan rope, rmsnorm y swiglu</translation>
    </message>
    <message>
        <source>is not known</source>
        <translation>no se conoce</translation>
    </message>
    <message>
        <source>is not part of a shape</source>
        <translation>no es parte de una forma</translation>
    </message>
    <message>
        <source>The shape of the model cannot be read: %1.</source>
        <translation>La forma del modelo no se puede leer: %1.</translation>
    </message>
    <message>
        <source>The shape of the model is wrong: %1.</source>
        <translation>La forma del modelo es errónea: %1.</translation>
    </message>
    <message>
        <source>the %1 in %2</source>
        <translation>el modelo %1 de %2</translation>
    </message>
    <message>
        <source>run %1</source>
        <translation>la ejecución %1</translation>
    </message>
    <message>
        <source>%1 is %2, but %3 has %4, which init_from takes over. Leave this setting out.</source>
        <translation>%1 es %2, pero %3 tiene %4, que init_from toma de allí. Deje fuera este ajuste.</translation>
    </message>
    <message>
        <source>seq_len is %1, but %2 has a context of %3. Give at most that.</source>
        <translation>seq_len es %1, pero %2 tiene un contexto de %3. Indique como máximo ese valor.</translation>
    </message>
    <message>
        <source>Shape from %1: %2</source>
        <translation>Forma de %1: %2</translation>
    </message>
    <message>
        <source>Tokenizer: %1</source>
        <translation>Tokenizador: %1</translation>
    </message>
    <message>
        <source>Windows of %1 tokens are trained (seq_len); the model keeps its context of %2.</source>
        <translation>Se entrenan ventanas de %1 tokens (seq_len); el modelo conserva su contexto de %2.</translation>
    </message>
    <message>
        <source>%1: the download in the cache does not hold what was promised of it (SHA-256); it is put aside when it is read next, or by &apos;furrowctl cache verify&apos;</source>
        <translation>%1: la descarga de la caché no contiene lo prometido (SHA-256); se aparta la próxima vez que se lea, o con «furrowctl cache verify»</translation>
    </message>
    <message>
        <source>SHA-256 of %1 downloads in the cache against what was promised; %2 more are not there, and are compared when they come</source>
        <translation>SHA-256 de %1 descargas de la caché frente a lo prometido; otras %2 no están y se comparan cuando lleguen</translation>
    </message>
    <message>
        <source>%1; %2 files are not verified as a whole, the first: %3</source>
        <translation>%1; %2 archivos no están verificados enteros, el primero: %3</translation>
    </message>
    <message>
        <source>tokenizer is %1 with %2 ids, but the model of init_from has %3. Leave tokenizer out, or name that model&apos;s.</source>
        <translation>tokenizer es %1 con %2 identificadores, pero el modelo de init_from tiene %3. Deje fuera tokenizer o nombre el de ese modelo.</translation>
    </message>
    <message>
        <source>waiting for the data: %1</source>
        <translation>esperando los datos: %1</translation>
    </message>
    <message>
        <source>Files from the network: %1 of %2 verified as a whole (SHA-256), %3 not yet.</source>
        <translation>Archivos de la red: %1 de %2 verificados enteros (SHA-256), %3 todavía no.</translation>
    </message>
    <message>
        <source>Not verified as a whole: %1 of %2 files; of the first %3.</source>
        <translation>Sin verificar enteros: %1 de %2 archivos; del primero, %3.</translation>
    </message>
    <message>
        <source>The supervisor stands still: somebody stopped process %1 (Ctrl+Z, SIGSTOP, a debugger). SIGCONT (`fg`, `kill -CONT`) lets it go on; until then nothing is merged and no process that ends is started again.</source>
        <translation>El supervisor está detenido: alguien paró el proceso %1 (Ctrl+Z, SIGSTOP, un depurador). SIGCONT (`fg`, `kill -CONT`) lo deja seguir; hasta entonces no se fusiona nada y no se reinicia ningún proceso que termine.</translation>
    </message>
    <message>
        <source>it stood still while workers waited for data</source>
        <translation>estaba detenido mientras los trabajadores esperaban datos</translation>
    </message>
    <message>
        <source>The moments of the optimiser of replica %1 start afresh: no checkpoint has them any more.</source>
        <translation>Los momentos del optimizador de la réplica %1 empiezan de nuevo: ningún punto de control los tiene ya.</translation>
    </message>
    <message>
        <source>config.json is of another model than these weights: %1</source>
        <translation>config.json es de un modelo distinto del de estos pesos: %1</translation>
    </message>
    <message>
        <source>%1 is not a JSON object.</source>
        <translation>%1 no es un objeto JSON.</translation>
    </message>
    <message>
        <source>%1 has no chat_template. Name the file of a template, or the folder of a model that has one.</source>
        <translation>%1 no tiene chat_template. Indique el archivo de una plantilla o la carpeta de un modelo que tenga una.</translation>
    </message>
    <message>
        <source>There is no chat template %1. Name its file, the folder of a model that has one, or chatml.</source>
        <translation>No hay ninguna plantilla de chat %1. Indique su archivo, la carpeta de un modelo que tenga una, o chatml.</translation>
    </message>
    <message>
        <source>%1 holds what looks like a password, a token or an address that opens itself, which would be kept in the run and shown everywhere. Take it out.</source>
        <translation>%1 contiene lo que parece una contraseña, un token o una dirección que da acceso por sí sola, que quedaría guardado en la ejecución y se vería en todas partes. Quítelo.</translation>
    </message>
    <message>
        <source>is a form of conversations that this Furrow does not know</source>
        <translation>es una forma de conversaciones que este Furrow no conoce</translation>
    </message>
    <message>
        <source>is not a name with a text</source>
        <translation>no es un nombre con un texto</translation>
    </message>
    <message>
        <source>%1 arrived with other bytes than it had (SHA-256), though its server says that it is the same file. Try again; if it stays so, the server or a proxy is at fault.</source>
        <translation>%1 llegó con bytes distintos de los que tenía (SHA-256), aunque su servidor dice que es el mismo archivo. Inténtelo de nuevo; si sigue igual, el fallo está en el servidor o en un proxy.</translation>
    </message>
    <message>
        <source>The column %1 holds conversations. With a chat_template they are trained as such; without one their texts are plain text.</source>
        <translation>La columna %1 contiene conversaciones. Con un chat_template se entrenan como tales; sin él, sus textos son texto sin formato.</translation>
    </message>
    <message>
        <source>%1 holds conversations in the column %2, which are read from jsonl, json, csv, tsv and Parquet only. Write it as jsonl, or set chat_template to none to train its texts as plain text.</source>
        <translation>%1 contiene conversaciones en la columna %2, que solo se leen de jsonl, json, csv, tsv y Parquet. Escríbalo como jsonl, o ponga chat_template en none para entrenar sus textos como texto sin formato.</translation>
    </message>
    <message>
        <source>%1 holds conversations in the form &apos;%2&apos;, the files before it in the form &apos;%3&apos;. Name them as two sources.</source>
        <translation>%1 contiene conversaciones en la forma «%2»; los archivos anteriores, en la forma «%3». Indíquelos como dos fuentes.</translation>
    </message>
    <message>
        <source>The rows are conversations (%1, column %2): the chat template writes them, answers are learnt.</source>
        <translation>Las filas son conversaciones (%1, columna %2): las escribe la plantilla de chat y se aprenden las respuestas.</translation>
    </message>
    <message>
        <source>No conversation of %1 can be trained: the first one %2. A template that marks with {% generation %} what the assistant writes fits all conversations; with chat_loss last one without it fits more.</source>
        <translation>No se puede entrenar ninguna conversación de %1: la primera %2. Una plantilla que marque con {% generation %} lo que escribe el asistente sirve para todas las conversaciones; con chat_loss last, una que no lo marque sirve para más.</translation>
    </message>
    <message>
        <source>The chat template writes %1, which the tokenizer does not have as a token: it becomes %2 tokens.</source>
        <translation>La plantilla de chat escribe %1, que el tokenizador no tiene como token: se convierte en %2 tokens.</translation>
    </message>
    <message>
        <source>tokens is not a list of texts</source>
        <translation>tokens no es una lista de textos</translation>
    </message>
    <message>
        <source>token_type is not a list with a number for each token</source>
        <translation>token_type no es una lista con un número para cada token</translation>
    </message>
    <message>
        <source>scores is not a list with a number for each token</source>
        <translation>scores no es una lista con un número para cada token</translation>
    </message>
    <message>
        <source>token_type has the unknown kind %1</source>
        <translation>token_type tiene el tipo desconocido %1</translation>
    </message>
    <message>
        <source>tokens has &apos;%1&apos; twice</source>
        <translation>tokens tiene «%1» dos veces</translation>
    </message>
    <message>
        <source>pre is &apos;%1&apos;, a way to split text that is not known here; known are %2</source>
        <translation>pre es «%1», una forma de dividir el texto que aquí no se conoce; se conocen %2</translation>
    </message>
    <message>
        <source>merges is not a list of texts</source>
        <translation>merges no es una lista de textos</translation>
    </message>
    <message>
        <source>model is &apos;%1&apos;, which is not known here; known are gpt2, llama</source>
        <translation>model es «%1», que no se conoce; se conocen gpt2, llama</translation>
    </message>
    <message>
        <source>llama.cpp has no form for this tokenizer: %1. Export as huggingface.</source>
        <translation>llama.cpp no tiene ninguna forma para este tokenizador: %1. Exporte como huggingface.</translation>
    </message>
    <message>
        <source>&apos;%1&apos; has the id %2, the model has %3 rows</source>
        <translation>«%1» tiene el identificador %2; el modelo tiene %3 filas</translation>
    </message>
    <message>
        <source>a merge is not a pair of texts without spaces</source>
        <translation>una fusión no es un par de textos sin espacios</translation>
    </message>
    <message>
        <source>it splits text in none of the ways that are known here: %1</source>
        <translation>no divide el texto de ninguna de las formas que aquí se conocen: %1</translation>
    </message>
    <message>
        <source>its sentencepiece model is not a byte-pair one, or changes characters first</source>
        <translation>su modelo sentencepiece no es de pares de bytes, o cambia antes caracteres</translation>
    </message>
    <message>
        <source>it is neither byte-pair of bytes (tokenizer.json) nor of sentencepiece (tokenizer.model)</source>
        <translation>no es de pares de bytes, ni sobre bytes (tokenizer.json) ni de sentencepiece (tokenizer.model)</translation>
    </message>
    <message>
        <source>There is no tokenizer %1. Give byte, char, gpt2 or the path of a tokenizer.json or sentencepiece .model.</source>
        <translation>No hay ningún tokenizador %1. Indique byte, char, gpt2 o la ruta de un tokenizer.json o de un .model de sentencepiece.</translation>
    </message>
    <message>
        <source>This is a Jetson, for which libtorch comes from NVIDIA alone. Workers train on the CPU; to use the GPU, build Furrow with that libtorch (FURROW_TORCH).</source>
        <translation>Este equipo es un Jetson, para el que solo NVIDIA ofrece libtorch. Los trabajadores entrenan en la CPU; para usar la GPU, compile Furrow con esa libtorch (FURROW_TORCH).</translation>
    </message>
    <message>
        <source>The NVIDIA driver %1 runs CUDA up to %2, and libtorch needs CUDA %3. Update the driver to train on the GPU; until then workers train on the CPU.</source>
        <translation>El controlador NVIDIA %1 admite CUDA hasta %2, y libtorch necesita CUDA %3. Actualice el controlador para entrenar en la GPU; hasta entonces los trabajadores entrenan en la CPU.</translation>
    </message>
    <message>
        <source>The NVIDIA driver %1 runs what libtorch needs.</source>
        <translation>El controlador NVIDIA %1 admite lo que libtorch necesita.</translation>
    </message>
    <message>
        <source>The GPU here is AMD&apos;s, which Furrow cannot use: there is no build of it for ROCm. Workers train on the CPU.</source>
        <translation>La GPU de este equipo es de AMD y Furrow no puede usarla: no hay ninguna compilación de Furrow para ROCm. Los trabajadores entrenan en la CPU.</translation>
    </message>
    <message>
        <source>%1 Workers train on the CPU.</source>
        <translation>%1 Los trabajadores entrenan en la CPU.</translation>
    </message>
    <message>
        <source>%1 asks for an account (HTTP %2). Give it as pip takes it: in PIP_INDEX_URL or pip.conf, https://name:password@host.</source>
        <translation>%1 pide una cuenta (HTTP %2). Indíquela como la toma pip: en PIP_INDEX_URL o en pip.conf, https://nombre:contraseña@servidor.</translation>
    </message>
    <message>
        <source>%1 answers with HTTP %2.</source>
        <translation>%1 responde con HTTP %2.</translation>
    </message>
    <message>
        <source>%1 redirects to something that is not an address.</source>
        <translation>%1 redirige a algo que no es una dirección.</translation>
    </message>
    <message>
        <source>%1 redirects without end.</source>
        <translation>%1 redirige sin fin.</translation>
    </message>
    <message>
        <source>%1 %2 cannot be fetched: %3. Without a network, `furrowctl torch install --from FOLDER` takes a folder of wheels that were fetched elsewhere.</source>
        <translation>No se puede descargar %1 %2: %3. Sin red, `furrowctl torch install --from CARPETA` toma una carpeta de wheels descargados en otro equipo.</translation>
    </message>
    <message>
        <source>No wheel of %1 %2 for this computer with a pinned hash is in %3. The index is the one that pip is configured for; PIP_INDEX_URL names another one, `furrowctl torch install --from FOLDER` takes a folder of wheels.</source>
        <translation>En %3 no hay ningún wheel de %1 %2 para este equipo con un hash fijado. El índice es el que pip tiene configurado; PIP_INDEX_URL indica otro, y `furrowctl torch install --from CARPETA` toma una carpeta de wheels.</translation>
    </message>
    <message>
        <source>%1 is not a libtorch: there is no lib/libtorch_cpu.so in it. Name the folder of an unpacked libtorch or site-packages/torch.</source>
        <translation>%1 no es una libtorch: no contiene lib/libtorch_cpu.so. Indique la carpeta de una libtorch descomprimida o site-packages/torch.</translation>
    </message>
    <message>
        <source>The libtorch %1 in %2 does not fit this Furrow (%3). `furrowctl torch install` brings one that fits.</source>
        <translation>La libtorch %1 de %2 no sirve para este Furrow (%3). `furrowctl torch install` instala una que sirve.</translation>
    </message>
    <message>
        <source>The libtorch in %1 is %2 and this Furrow was built with %3; libtorch promises nothing to programs that were built with another series. `furrowctl torch install` brings one that fits.</source>
        <translation>La libtorch de %1 es %2 y este Furrow se compiló con %3; libtorch no garantiza nada a los programas compilados con otra serie. `furrowctl torch install` instala una que sirve.</translation>
    </message>
    <message>
        <source>of an unknown version</source>
        <translation>de una versión desconocida</translation>
    </message>
    <message>
        <source>%1 has %2 free and about %3 are needed. Make room, or set XDG_DATA_HOME to a folder on a larger disk.</source>
        <translation>%1 tiene %2 libres y hacen falta unos %3. Libere espacio, o ponga en XDG_DATA_HOME una carpeta de un disco mayor.</translation>
    </message>
    <message>
        <source>%1. Trying again in %2 s.</source>
        <translation>%1. Nuevo intento en %2 s.</translation>
    </message>
    <message>
        <source>%1 lacks wheels for this computer: %2. Where there is a network, `python3 -m pip download --no-deps --dest FOLDER` with these names fetches them.</source>
        <translation>En %1 faltan wheels para este equipo: %2. Donde haya red, `python3 -m pip download --no-deps --dest CARPETA` con estos nombres los descarga.</translation>
    </message>
    <message>
        <source>%1 is neither a file nor a folder.</source>
        <translation>%1 no es un archivo ni una carpeta.</translation>
    </message>
    <message>
        <source>%1 needs %2 %3 beside it in its folder.</source>
        <translation>%1 necesita %2 %3 a su lado, en la misma carpeta.</translation>
    </message>
    <message>
        <source>libtorch %1: %2 files, of which %3 are to be fetched; %4 of disk are needed while it is installed, about %5 afterwards, in %6.</source>
        <translation>libtorch %1: %2 archivos, de los que hay que descargar %3; se necesitan %4 de disco durante la instalación y unos %5 después, en %6.</translation>
    </message>
    <message>
        <source>%1 is not a file that Furrow knows; its SHA-256 is %2. It is taken because you named it.</source>
        <translation>%1 no es un archivo que Furrow conozca; su SHA-256 es %2. Se acepta porque usted lo indicó.</translation>
    </message>
    <message>
        <source>%1 has the SHA-256 %2, which is none of those that Furrow knows for %3 %4. It is damaged or something else: fetch it again.</source>
        <translation>%1 tiene el SHA-256 %2, que no es ninguno de los que Furrow conoce para %3 %4. Está dañado o es otra cosa: descárguelo de nuevo.</translation>
    </message>
    <message>
        <source>Another `furrowctl torch` is at work in %1. Wait for its end.</source>
        <translation>Otro `furrowctl torch` está trabajando en %1. Espere a que termine.</translation>
    </message>
    <message>
        <source>Training is not possible here: libtorch is missing. `furrowctl torch install` brings it, `furrowctl torch find` takes one that is there already. Runs can be watched without it.</source>
        <translation>Aquí no se puede entrenar: falta libtorch. `furrowctl torch install` la instala, `furrowctl torch find` usa una que ya esté presente. Las ejecuciones se pueden observar sin ella.</translation>
    </message>
    <message>
        <source>Training is not possible here: libtorch was in %1 and is there no more. `furrowctl torch find` looks for another one, `furrowctl torch install` brings one.</source>
        <translation>Aquí no se puede entrenar: libtorch estaba en %1 y ya no está. `furrowctl torch find` busca otra, `furrowctl torch install` instala una.</translation>
    </message>
    <message>
        <source>the active environment</source>
        <translation>el entorno activo</translation>
    </message>
    <message>
        <source>The disk of %1 takes no more. Make room, then run this again: it goes on from here.</source>
        <translation>En el disco de %1 no cabe más. Libere espacio y vuelva a ejecutar esto: continúa desde aquí.</translation>
    </message>
    <message>
        <source>%1 sent another part than was asked for.</source>
        <translation>%1 envió una parte distinta de la que se pidió.</translation>
    </message>
    <message>
        <source>%1. What is there already is kept: run this again, and it goes on from there.</source>
        <translation>%1. Lo que ya está se conserva: vuelva a ejecutar esto y continuará desde ahí.</translation>
    </message>
    <message>
        <source>%1 from %2 has the SHA-256 %3, which is none of those that Furrow knows for %4 %5. It was thrown away. Run this again; if it comes again, the index holds something else: name another one in PIP_INDEX_URL.</source>
        <translation>%1, de %2, tiene el SHA-256 %3, que no es ninguno de los que Furrow conoce para %4 %5. Se descartó. Vuelva a ejecutar esto; si se repite, el índice contiene otra cosa: indique otro en PIP_INDEX_URL.</translation>
    </message>
    <message>
        <source>%1 is not a wheel that Furrow can unpack: %2 is a link, encrypted, packed in a strange way, or too much.</source>
        <translation>%1 no es un wheel que Furrow pueda descomprimir: %2 es un enlace, está cifrado, está comprimido de forma extraña o es demasiado grande.</translation>
    </message>
    <message>
        <source>at byte %1: %2</source>
        <translation>en el byte %1: %2</translation>
    </message>
    <message>
        <source>a text of %1 bytes does not fit</source>
        <translation>un texto de %1 bytes no cabe</translation>
    </message>
    <message>
        <source>a text before it is not UTF-8</source>
        <translation>un texto anterior no es UTF-8</translation>
    </message>
    <message>
        <source>a boolean is neither 0 nor 1</source>
        <translation>un valor booleano no es ni 0 ni 1</translation>
    </message>
    <message>
        <source>a value is of an unknown kind</source>
        <translation>un valor es de un tipo desconocido</translation>
    </message>
    <message>
        <source>a value is of the unknown kind %1</source>
        <translation>un valor es del tipo desconocido %1</translation>
    </message>
    <message>
        <source>a list holds lists, which nothing here needs</source>
        <translation>una lista contiene listas, que aquí nada necesita</translation>
    </message>
    <message>
        <source>a list of %1 values does not fit</source>
        <translation>una lista de %1 valores no cabe</translation>
    </message>
    <message>
        <source>the header is longer than 256 MiB</source>
        <translation>la cabecera ocupa más de 256 MiB</translation>
    </message>
    <message>
        <source>the file ends in the middle of its header</source>
        <translation>el archivo acaba en medio de su cabecera</translation>
    </message>
    <message>
        <source>it does not begin as a GGUF does</source>
        <translation>no empieza como un GGUF</translation>
    </message>
    <message>
        <source>its numbers are big-endian, which is not known here</source>
        <translation>sus números son big-endian, lo que aquí no se conoce</translation>
    </message>
    <message>
        <source>it is of version %1 of GGUF; known are 2 and 3</source>
        <translation>es de la versión %1 de GGUF; se conocen la 2 y la 3</translation>
    </message>
    <message>
        <source>%1 tensors do not fit</source>
        <translation>%1 tensores no caben</translation>
    </message>
    <message>
        <source>%1 metadata do not fit</source>
        <translation>%1 metadatos no caben</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; %2</source>
        <translation>el tensor «%1» %2</translation>
    </message>
    <message>
        <source>has %1 dimensions</source>
        <translation>tiene %1 dimensiones</translation>
    </message>
    <message>
        <source>has an impossible shape</source>
        <translation>tiene una forma imposible</translation>
    </message>
    <message>
        <source>is of type %1 of ggml, which is not known here; known are f32, f16, bf16, q8_0, q4_0, q4_1, q6_k</source>
        <translation>es del tipo %1 de ggml, que aquí no se conoce; se conocen f32, f16, bf16, q8_0, q4_0, q4_1, q6_k</translation>
    </message>
    <message>
        <source>has rows of %1 numbers, which is not a multiple of %2</source>
        <translation>tiene filas de %1 números, que no forman bloques enteros de %2</translation>
    </message>
    <message>
        <source>general.alignment is not a power of two up to 1048576</source>
        <translation>general.alignment no es una potencia de dos hasta 1048576</translation>
    </message>
    <message>
        <source>is listed twice</source>
        <translation>figura dos veces</translation>
    </message>
    <message>
        <source>begins at byte %1 of the data, which is not a multiple of %2</source>
        <translation>empieza en el byte %1 de los datos, que no es múltiplo de %2</translation>
    </message>
    <message>
        <source>overlaps the one before it</source>
        <translation>se solapa con el anterior</translation>
    </message>
    <message>
        <source>needs %1 bytes from byte %2 of the data, which has %3</source>
        <translation>necesita %1 bytes desde el byte %2 de los datos, que tienen %3</translation>
    </message>
    <message>
        <source>%1 is there twice</source>
        <translation>%1 está dos veces</translation>
    </message>
    <message>
        <source>%1 has a value that GGUF does not hold here</source>
        <translation>%1 tiene un valor que GGUF no admite aquí</translation>
    </message>
    <message>
        <source>models of %1 are not written as GGUF here; known are %2. Export as huggingface.</source>
        <translation>los modelos de %1 no se escriben aquí como GGUF; se conocen %2. Exporte como huggingface.</translation>
    </message>
    <message>
        <source>a GGUF cannot say what this model is: %1</source>
        <translation>un GGUF no puede expresar cómo es este modelo: %1</translation>
    </message>
    <message>
        <source>is set beside rope_freqs</source>
        <translation>está definido junto con rope_freqs</translation>
    </message>
    <message>
        <source>stretches positions in a way that is not known here</source>
        <translation>estira las posiciones de una forma que aquí no se conoce</translation>
    </message>
    <message>
        <source>is not attention.key_length, which is not known here</source>
        <translation>no es attention.key_length, lo que aquí no se conoce</translation>
    </message>
    <message>
        <source>is not the width of the model divided by its heads</source>
        <translation>no es el ancho del modelo dividido entre sus cabezas</translation>
    </message>
    <message>
        <source>is not the width of a head, which is not known here</source>
        <translation>no es el ancho de una cabeza, lo que aquí no se conoce</translation>
    </message>
    <message>
        <source>general.architecture is &apos;%1&apos;; known are %2</source>
        <translation>general.architecture es «%1»; se conocen %2</translation>
    </message>
    <message>
        <source>Chat template from %1, for rows that are conversations</source>
        <translation>Plantilla de chat de %1, para filas que son conversaciones</translation>
    </message>
    <message>
        <source>tracker and run.json disagree: %1 is &apos;%2&apos; in the tracker and &apos;%3&apos; by run.json, and chunks would be given out or counted in another way. One of the two was changed from outside; put a copy of it back from before.</source>
        <translation>el registro y run.json no coinciden: %1 es «%2» en el registro y «%3» según run.json, y los fragmentos se repartirían o contarían de otra manera. Uno de los dos se cambió desde fuera; restaure una copia anterior de ese.</translation>
    </message>
    <message>
        <source>%1 says that this is run %2, and none of its checkpoints is of that run: %3 are of run %4. Nothing was changed, since a repair by this run.json would give up all of them. Put the run.json of the run back.</source>
        <translation>%1 dice que esta es la ejecución %2, y ninguno de sus puntos de control es de esa ejecución: %3 son de la ejecución %4. No se cambió nada, ya que una reparación según este run.json los abandonaría todos. Restaure el run.json de la ejecución.</translation>
    </message>
    <message>
        <source>The run knows no chunk of its data yet: the first block is read when it trains.</source>
        <translation>La ejecución no conoce aún ningún fragmento de sus datos: el primer bloque se lee al entrenar.</translation>
    </message>
    <message>
        <source>The run has no epoch %1: it has begun %2 so far.</source>
        <translation>La ejecución no tiene ninguna época %1: hasta ahora ha empezado %2.</translation>
    </message>
    <message>
        <source>The run has no chunk %1:%2: it knows the blocks 0 to %3 so far.</source>
        <translation>La ejecución no tiene ningún fragmento %1:%2: hasta ahora conoce los bloques 0 a %3.</translation>
    </message>
    <message>
        <source>Chat template: %1</source>
        <translation>Plantilla de chat: %1</translation>
    </message>
    <message>
        <source>The run is %1: nothing is paused. `furrowctl resume` goes on with it, and says first what is trained again.</source>
        <translation>La ejecución está en estado %1: no hay nada en pausa. `furrowctl resume` la continúa y dice antes qué se entrena de nuevo.</translation>
    </message>
    <message>
        <source>A tracker made anew would give up newest weights that the old one knew, since nothing whole in %1 proves them: %2. Nothing was changed. Put a whole copy of them back and repair then; or &apos;furrowctl doctor %3 --repair --accept-loss&apos; goes on without them and their chunks are trained again.</source>
        <translation>Un registro hecho de nuevo abandonaría los pesos más recientes que conocía el anterior, ya que nada íntegro en %1 los prueba: %2. No se cambió nada. Vuelva a poner una copia íntegra de ellos y repare después; o bien «furrowctl doctor %3 --repair --accept-loss» sigue sin ellos y sus fragmentos se entrenan de nuevo.</translation>
    </message>
    <message>
        <source>A person asked for a pause: the workers wait at the end of their chunks. Continue (`furrowctl continue`) lets them go on.</source>
        <translation>Una persona pidió una pausa: los trabajadores esperan al final de sus fragmentos. Continuar (`furrowctl continue`) los deja seguir.</translation>
    </message>
    <message>
        <source>A person asked for a stop: the workers save a checkpoint and end.</source>
        <translation>Una persona pidió detener la ejecución: los trabajadores guardan un punto de control y terminan.</translation>
    </message>
    <message>
        <source>A person asked for a kill: every process is ended, without a checkpoint.</source>
        <translation>Una persona pidió matar la ejecución: se termina cada proceso, sin punto de control.</translation>
    </message>
    <message>
        <source>Worker %1 stands still: somebody stopped process %2 (Ctrl+Z, SIGSTOP, a debugger). SIGCONT (`fg`, `kill -CONT`) lets it go on; when its lease ends, or others wait for it, it is ended and started again.</source>
        <translation>El trabajador %1 está detenido: alguien paró el proceso %2 (Ctrl+Z, SIGSTOP, un depurador). SIGCONT (`fg`, `kill -CONT`) lo deja seguir; cuando acabe su reserva, o si otros lo esperan, se termina y se inicia de nuevo.</translation>
    </message>
    <message>
        <source>The run ends with the block that is complete next: a person or a stopping rule asked for that.</source>
        <translation>La ejecución acaba con el próximo bloque que se complete: lo pidió una persona o una regla de parada.</translation>
    </message>
    <message>
        <source>The run ends when %1 more blocks are complete.</source>
        <translation>La ejecución acaba cuando se completen %1 bloques más.</translation>
    </message>
    <message>
        <source>The run ends with epoch %1: a person asked for that.</source>
        <translation>La ejecución acaba con la época %1: lo pidió una persona.</translation>
    </message>
    <message>
        <source>%1 % of the tokens prepared so far stand for characters that the vocabulary does not have.</source>
        <translation>El %1 % de los tokens preparados hasta ahora representa caracteres que el vocabulario no tiene.</translation>
    </message>
    <message>
        <source>%1 ended with %2. See %3 for more.</source>
        <translation>%1 terminó con %2. Más información en %3.</translation>
    </message>
    <message>
        <source>Training is not possible here: furrow-worker does not start with the libtorch in %1 (%2). `furrowctl torch install` brings one that fits; of a build run packaging/run.sh again.</source>
        <translation>Aquí no se puede entrenar: furrow-worker no arranca con la libtorch de %1 (%2). `furrowctl torch install` instala una que sirve; en una compilación propia ejecute de nuevo packaging/run.sh.</translation>
    </message>
    <message>
        <source>%1 has more than %2 that is not telemetry: nothing is read after that. Move it out of the folder, or put a copy of it back.</source>
        <translation>%1 tiene más de %2 que no son telemetría: no se sigue leyendo después de ellos. Sáquelo de la carpeta o vuelva a poner una copia.</translation>
    </message>
    <message>
        <source>%1 has neither weights.safetensors nor config.json. Name a checkpoint folder of a run, a Hugging Face folder or a GGUF.</source>
        <translation>%1 no tiene weights.safetensors ni config.json. Indique la carpeta de un punto de control de una ejecución, una carpeta de Hugging Face o un GGUF.</translation>
    </message>
    <message>
        <source>Name the file to make with --out.</source>
        <translation>Indique con --out el archivo que se debe crear.</translation>
    </message>
    <message>
        <source>%1 is there already. Name a new file for the export.</source>
        <translation>%1 ya existe. Indique un archivo nuevo para la exportación.</translation>
    </message>
    <message>
        <source>There is no type &apos;%1&apos;. Known are f32, f16, bf16, q8_0, q4_0, q4_1.</source>
        <translation>No hay ningún tipo «%1». Los conocidos son f32, f16, bf16, q8_0, q4_0, q4_1.</translation>
    </message>
    <message>
        <source>%1 is a model without a run, which has no checkpoints. Leave --checkpoint out.</source>
        <translation>%1 es un modelo sin ejecución, que no tiene puntos de control. Omita --checkpoint.</translation>
    </message>
    <message>
        <source>%1 has no tokenizer.json or tokenizer.model, so texts have no meaning for it.</source>
        <translation>%1 no tiene tokenizer.json ni tokenizer.model, así que los textos no tienen significado para él.</translation>
    </message>
    <message>
        <source>The tokenizer of %1 has %2 ids, but the model has %3.</source>
        <translation>El tokenizador de %1 tiene %2 identificadores, pero el modelo tiene %3.</translation>
    </message>
    <message>
        <source>the model of this run has no chat template; go on from a text with --prompt</source>
        <translation>el modelo de esta ejecución no tiene plantilla de chat; continúe a partir de un texto con --prompt</translation>
    </message>
    <message>
        <source>(The tokenizer has nothing for: %1)</source>
        <translation>(El tokenizador no tiene nada para: %1)</translation>
    </message>
    <message>
        <source>it computes wrong gradients: %1 where 1 is right</source>
        <translation>calcula gradientes incorrectos: %1 donde lo correcto es 1</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has a number that %2 cannot hold. Export with --type f32.</source>
        <translation>el tensor «%1» tiene un número que %2 no puede contener. Exporte con --type f32.</translation>
    </message>
    <message>
        <source>%1 is on, which works with architecture gpt only: hrm sums up a window as a whole.</source>
        <translation>%1 está activado, lo que solo funciona con la arquitectura gpt: hrm resume la ventana entera.</translation>
    </message>
    <message>
        <source>%1 is on, but %2 stream knows no samples.</source>
        <translation>%1 está activado, pero %2 stream no conoce muestras.</translation>
    </message>
    <message>
        <source>%1 cannot be read</source>
        <translation>%1 no se puede leer</translation>
    </message>
    <message>
        <source>SHA-256 of %1 files (%2) of one checkpoint, the newest</source>
        <translation>SHA-256 de %1 archivos (%2) de un punto de control, el más reciente</translation>
    </message>
    <message>
        <source>Neither the tracker nor its snapshot (%1) can be read, so nobody can say whether there were newer weights than those in %2. By these %3 of %4 known chunks are trained. Nothing was changed. Put back what you have of the two and repair then; or &apos;furrowctl doctor %5 --repair --accept-loss&apos; goes on from these.</source>
        <translation>No se pueden leer ni el registro ni su copia (%1), así que nadie puede decir si hubo pesos más recientes que los de %2. Según estos están entrenados %3 de %4 fragmentos conocidos. No se cambió nada. Reponga lo que tenga de los dos y repare entonces; o «furrowctl doctor %5 --repair --accept-loss» continúa desde estos.</translation>
    </message>
    <message>
        <source>%1 is a link that leads out of the model&apos;s folder, to %2, and what lies there would be kept in the run. Put a copy of the file in its place if it belongs to the model.</source>
        <translation>%1 es un enlace que sale de la carpeta del modelo, hacia %2, y lo que hay allí se guardaría en la ejecución. Ponga una copia del archivo en su lugar si pertenece al modelo.</translation>
    </message>
    <message>
        <source>there is nothing at %1; name a checkpoint of a run, the folder of a model, or a weight file</source>
        <translation>no hay nada en %1; indique un punto de control de una ejecución, la carpeta de un modelo o un archivo de pesos</translation>
    </message>
    <message>
        <source>The chat template holds the secret of the environment variable %1, which would be kept in the run. Take it out of the template.</source>
        <translation>La plantilla de chat contiene el secreto de la variable de entorno %1, que se guardaría en la ejecución. Quítelo de la plantilla.</translation>
    </message>
    <message>
        <source>The run could not be asked to end: %1 So its supervisor, process %2, was killed with all that it started.</source>
        <translation>No se pudo pedir a la ejecución que terminara: %1 Por eso se terminó por la fuerza su supervisor, el proceso %2, con todo lo que inició.</translation>
    </message>
    <message>
        <source>its supervisor was gone; it was last seen at %1 and found dead at %2</source>
        <translation>su supervisor ya no existía; visto por última vez: %1; hallado muerto: %2</translation>
    </message>
    <message>
        <source>1 more is partly trained: %1 of its %2 samples are kept, and nothing of these is trained again.</source>
        <translation>1 más está entrenado en parte: se conservan %1 de sus %2 muestras, y nada de ellas se entrena de nuevo.</translation>
    </message>
    <message>
        <source>%1 more are partly trained: %2 of their %3 samples are kept, and nothing of these is trained again.</source>
        <translation>%1 más están entrenados en parte: se conservan %2 de sus %3 muestras, y nada de ellas se entrena de nuevo.</translation>
    </message>
    <message>
        <source>1 chunk partly trained: %1 of its %2 samples are in checkpoints, the rest is to come</source>
        <translation>1 fragmento entrenado en parte: %1 de sus %2 muestras están en puntos de control, falta el resto</translation>
    </message>
    <message>
        <source>%1 chunks partly trained: %2 of their %3 samples are in checkpoints, the rest is to come</source>
        <translation>%1 fragmentos entrenados en parte: %2 de sus %3 muestras están en puntos de control, falta el resto</translation>
    </message>
    <message>
        <source>its prepared file is another one</source>
        <translation>su archivo preparado es otro</translation>
    </message>
    <message>
        <source>after epoch %1</source>
        <translation>después de la época %1</translation>
    </message>
    <message>
        <source>after epoch %1 of %2</source>
        <translation>después de la época %1 de %2</translation>
    </message>
    <message>
        <source>after a block; %1 known chunks of the epoch are left, and what was not read yet</source>
        <translation>después de un bloque; quedan %1 fragmentos conocidos de la época y lo que aún no se leyó</translation>
    </message>
    <message>
        <source>after a block; %1 chunks of the epoch are left</source>
        <translation>después de un bloque; quedan %1 fragmentos de la época</translation>
    </message>
    <message>
        <source>block %1 has other content than when it was first prepared</source>
        <translation>el bloque %1 no tiene el mismo contenido que cuando se preparó por primera vez</translation>
    </message>
    <message>
        <source>%1; its source has changed. Restore the source, or exclude the block</source>
        <translation>%1; su fuente ha cambiado. Restaure la fuente o excluya el bloque</translation>
    </message>
    <message>
        <source>a person asked for a pause</source>
        <translation>una persona pidió una pausa</translation>
    </message>
    <message>
        <source>the pause is over</source>
        <translation>la pausa terminó</translation>
    </message>
    <message>
        <source>precision is &apos;%1&apos;; allowed are auto, fp32, bf16, fp16</source>
        <translation>precision es «%1»; se admiten auto, fp32, bf16 y fp16</translation>
    </message>
    <message>
        <source>%1 has an empty name. Is a variable not set?</source>
        <translation>%1 tiene un nombre vacío. ¿Falta definir una variable?</translation>
    </message>
    <message>
        <source>user %1</source>
        <translation>el usuario %1</translation>
    </message>
    <message>
        <source>another user</source>
        <translation>otro usuario</translation>
    </message>
    <message>
        <source>it took longer than %1 s</source>
        <translation>tardó más de %1 s</translation>
    </message>
    <message>
        <source>it ended before it answered (%1)</source>
        <translation>terminó antes de responder (%1)</translation>
    </message>
    <message>
        <source>is refused at message %1: %2</source>
        <translation>se rechaza en el mensaje %1: %2</translation>
    </message>
    <message>
        <source>has no messages</source>
        <translation>no tiene mensajes</translation>
    </message>
    <message>
        <source>is written by the chat template without a turn of the assistant</source>
        <translation>la plantilla de chat lo escribe sin ningún turno del asistente</translation>
    </message>
    <message>
        <source>The prepared block %1 is damaged: %2.</source>
        <translation>El bloque preparado %1 está dañado: %2.</translation>
    </message>
    <message>
        <source>The prepared block %1 has version %2; this Furrow reads up to %3. Use a newer one.</source>
        <translation>El bloque preparado %1 tiene la versión %2; este Furrow lee hasta la %3. Use uno más reciente.</translation>
    </message>
    <message>
        <source>The prepared block %1 has %2 chunks, asked was for chunk %3.</source>
        <translation>El bloque preparado %1 tiene %2 fragmentos; se pidió el fragmento %3.</translation>
    </message>
    <message>
        <source>made with files that are left out</source>
        <translation>hecho con archivos que se dejan fuera</translation>
    </message>
    <message>
        <source>not in the cache</source>
        <translation>no está en la caché</translation>
    </message>
    <message>
        <source>A block plan of this run names a source that the data set does not have.</source>
        <translation>Un plan de bloque de esta ejecución nombra una fuente que el conjunto de datos no tiene.</translation>
    </message>
    <message>
        <source>Preparing block %1 was cancelled.</source>
        <translation>Se canceló la preparación del bloque %1.</translation>
    </message>
    <message>
        <source>%1 answered %2</source>
        <translation>%1 respondió %2</translation>
    </message>
    <message>
        <source>the comparison with the training data was interrupted</source>
        <translation>se interrumpió la comparación con los datos de entrenamiento</translation>
    </message>
    <message>
        <source>A block plan of this run was written by a newer Furrow. Use that one.</source>
        <translation>Un plan de bloque de esta ejecución lo escribió un Furrow más reciente. Use ese.</translation>
    </message>
    <message>
        <source>The last block plan of this run does not fit its data manifest.</source>
        <translation>El último plan de bloque de esta ejecución no corresponde a su manifiesto de datos.</translation>
    </message>
    <message>
        <source>A block plan of this run names a file that the data set does not have.</source>
        <translation>Un plan de bloque de esta ejecución nombra un archivo que el conjunto de datos no tiene.</translation>
    </message>
    <message>
        <source>A block plan of this run has fewer rows than its chunks.</source>
        <translation>Un plan de bloque de esta ejecución tiene menos filas que sus fragmentos.</translation>
    </message>
    <message>
        <source>%1 has fewer rows than it had; it changed while the run was going.</source>
        <translation>%1 tiene menos filas que antes; cambió durante la ejecución.</translation>
    </message>
    <message>
        <source>The list of duplicates %1 is damaged: %2.</source>
        <translation>La lista de duplicados %1 está dañada: %2.</translation>
    </message>
    <message>
        <source>%1 is a link to nothing that is there.</source>
        <translation>%1 es un enlace a algo que no existe.</translation>
    </message>
    <message>
        <source>%1 is a link to %2, which is read already, and was left out.</source>
        <translation>%1 es un enlace a %2, que ya se lee, y se dejó fuera.</translation>
    </message>
    <message>
        <source>%1 has %2 tokens in one of its parts, too few for a context of %3. Use more text or a shorter context.</source>
        <translation>%1 tiene %2 tokens en una de sus partes, demasiado pocos para un contexto de %3. Use más texto o un contexto más corto.</translation>
    </message>
    <message>
        <source>the vocabulary has no token for &quot;%1&quot;, and none called %2</source>
        <translation>el vocabulario no tiene ningún token para «%1» ni ninguno llamado %2</translation>
    </message>
    <message>
        <source>The vocabulary size %1 is outside 258 to 1,000,000.</source>
        <translation>El tamaño de vocabulario %1 está fuera de 258 a 1.000.000.</translation>
    </message>
    <message>
        <source>Training of the tokenizer was stopped.</source>
        <translation>Se detuvo el entrenamiento del tokenizador.</translation>
    </message>
    <message>
        <source>it is not a sentencepiece model</source>
        <translation>no es un modelo de sentencepiece</translation>
    </message>
    <message>
        <source>the normalizer makes the text more than 64 times as long</source>
        <translation>el normalizador alarga el texto más de 64 veces</translation>
    </message>
    <message>
        <source>token id %1 is larger than %2</source>
        <translation>el identificador de token %1 es mayor que %2</translation>
    </message>
    <message>
        <source>the vocabulary is empty</source>
        <translation>el vocabulario está vacío</translation>
    </message>
    <message>
        <source>the pattern %1 is not understood: %2</source>
        <translation>no se entiende el patrón %1: %2</translation>
    </message>
    <message>
        <source>the sentencepiece model has no pieces</source>
        <translation>el modelo de sentencepiece no tiene piezas</translation>
    </message>
    <message>
        <source>line %1 is not a new &quot;base64 rank&quot; of a tiktoken file</source>
        <translation>la línea %1 no es un nuevo «base64 rango» de un archivo de tiktoken</translation>
    </message>
    <message>
        <source>a tiktoken file with %1 ranks is of no known family (GPT-2, cl100k, o200k, Qwen); use its tokenizer.json</source>
        <translation>un archivo de tiktoken con %1 rangos no es de ninguna familia conocida (GPT-2, cl100k, o200k, Qwen); use su tokenizer.json</translation>
    </message>
    <message>
        <source>it is not valid JSON</source>
        <translation>no es JSON válido</translation>
    </message>
    <message>
        <source>the vocabulary has no token for &quot;%1&quot;, and unk_id names none</source>
        <translation>el vocabulario no tiene ningún token para «%1» y unk_id no nombra ninguno</translation>
    </message>
    <message>
        <source>No NVIDIA driver was found: %1.</source>
        <translation>No se encontró ningún controlador NVIDIA: %1.</translation>
    </message>
    <message>
        <source>The NVIDIA driver is too old: %1 lacks functions of driver 450 and later.</source>
        <translation>El controlador NVIDIA es demasiado antiguo: a %1 le faltan funciones del controlador 450 y posteriores.</translation>
    </message>
    <message>
        <source>The NVIDIA driver is installed but does not start; nvidia-smi says why.</source>
        <translation>El controlador NVIDIA está instalado pero no arranca; nvidia-smi dice por qué.</translation>
    </message>
    <message>
        <source>Whether the libtorch %1 in %2 fits could not be found out: furrow-trainer was started with it, and %3. Try again; if it is so each time, `furrowctl torch install` brings another one.</source>
        <translation>No se pudo averiguar si la libtorch %1 de %2 sirve: furrow-trainer se inició con ella y %3. Vuelva a intentarlo; si ocurre siempre, `furrowctl torch install` instala otra.</translation>
    </message>
    <message>
        <source>config.json: %1</source>
        <translation>config.json: %1</translation>
    </message>
    <message>
        <source>config.json is not a JSON object</source>
        <translation>config.json no es un objeto JSON</translation>
    </message>
    <message>
        <source>%1 has another size than was written.</source>
        <translation>%1 tiene un tamaño distinto del que se escribió.</translation>
    </message>
    <message>
        <source>SHA-256 of %1 differs.</source>
        <translation>El SHA-256 de %1 es distinto.</translation>
    </message>
    <message>
        <source>%1 cannot be looked at (%2).</source>
        <translation>No se puede examinar %1 (%2).</translation>
    </message>
    <message>
        <source>%1 The run is trained by process %2, which belongs to %3. Only they, or root, can end it.</source>
        <translation>%1 La ejecución la entrena el proceso %2, que pertenece a %3. Solo esa persona, o root, puede terminarla.</translation>
    </message>
    <message>
        <source>The run cannot be asked to end: %1 Its supervisor, process %2, was killed and is still there: it waits for the system, as for a disk that does not answer, and ends when that does.</source>
        <translation>No se puede pedir a la ejecución que termine: %1 Su supervisor, el proceso %2, se cerró a la fuerza y sigue ahí: espera al sistema, por ejemplo a un disco que no responde, y termina cuando este lo haga.</translation>
    </message>
    <message>
        <source>%1 is marked as finished already. Nothing was changed.</source>
        <translation>%1 ya está marcada como terminada. No se cambió nada.</translation>
    </message>
    <message>
        <source>%1 is finished already: %2. Nothing was changed.</source>
        <translation>%1 ya ha terminado: %2. No se cambió nada.</translation>
    </message>
    <message>
        <source>its supervisor stands still</source>
        <translation>su supervisor está parado</translation>
    </message>
    <message>
        <source>%1 is finished, and nothing was started. %2</source>
        <translation>%1 ha terminado y no se inició nada. %2</translation>
    </message>
    <message>
        <source>Whether furrow-worker starts with the libtorch in %1 could not be found out: %2. Try again; if it is so each time, `furrowctl torch install` brings another one.</source>
        <translation>No se pudo averiguar si furrow-worker arranca con la libtorch de %1: %2. Vuelva a intentarlo; si ocurre siempre, `furrowctl torch install` instala otra.</translation>
    </message>
    <message>
        <source>1 row cannot be used: %1.</source>
        <translation>No se puede usar 1 fila: %1.</translation>
    </message>
    <message>
        <source>%1 rows cannot be used; the first: %2.</source>
        <translation>No se pueden usar %1 filas; la primera: %2.</translation>
    </message>
    <message>
        <source>1 sample has the text of one before it in its block, and is trained all the same.</source>
        <translation>1 muestra tiene el texto de una anterior de su bloque y se entrena igualmente.</translation>
    </message>
    <message>
        <source>%1 samples have the text of one before them in their block, and are trained all the same.</source>
        <translation>%1 muestras tienen el texto de una anterior de su bloque y se entrenan igualmente.</translation>
    </message>
    <message>
        <source>1 sample has bytes or escapes that are not characters.</source>
        <translation>1 muestra tiene bytes o secuencias de escape que no son caracteres.</translation>
    </message>
    <message>
        <source>%1 samples have bytes or escapes that are not characters.</source>
        <translation>%1 muestras tienen bytes o secuencias de escape que no son caracteres.</translation>
    </message>
    <message>
        <source>The weights are being merged; no worker trains meanwhile.</source>
        <translation>Se están fusionando los pesos; mientras tanto no entrena ningún trabajador.</translation>
    </message>
    <message>
        <source>The workers are starting; none has begun yet.</source>
        <translation>Los trabajadores están arrancando; ninguno ha empezado todavía.</translation>
    </message>
    <message>
        <source>The disk of %1 is full: nothing is saved until there is room.</source>
        <translation>El disco de %1 está lleno: no se guarda nada hasta que haya espacio.</translation>
    </message>
    <message>
        <source>The newest checkpoint is of %1, though one is due every %2 minutes; the logs of the workers say why. %3 trained chunks are in none.</source>
        <translation>El último punto de control es de %1, aunque toca uno cada %2 minutos; los logs de los trabajadores dicen por qué. %3 fragmentos entrenados no están en ninguno.</translation>
    </message>
    <message>
        <source>not the newest weights</source>
        <translation>no son los pesos más recientes</translation>
    </message>
    <message>
        <source>before the end of epoch %1</source>
        <translation>antes del final de la época %1</translation>
    </message>
    <message>
        <source>of weights with %1 steps, on %2 tokens that are trained too, for the data is too small to hold text out; %3</source>
        <translation>de pesos con %1 pasos, en %2 tokens que también se entrenan, pues hay demasiado pocos datos para reservar texto; %3</translation>
    </message>
    <message>
        <source>starting</source>
        <translation>arrancando</translation>
    </message>
    <message>
        <source>waiting: enough is prepared</source>
        <translation>en espera: hay suficiente preparado</translation>
    </message>
    <message>
        <source>checking block %1</source>
        <translation>comprobando el bloque %1</translation>
    </message>
    <message>
        <source>waiting: the cache is full of blocks in use</source>
        <translation>en espera: la caché está llena de bloques en uso</translation>
    </message>
    <message>
        <source>The merge ended with %1; see %2. The replicas are kept as they are; a resume merges them.</source>
        <translation>La fusión terminó con %1; vea %2. Las réplicas quedan como están; al reanudar se fusionan.</translation>
    </message>
    <message>
        <source>what worker %1 had trained since its last checkpoint could not be saved, and is trained again: %2</source>
        <translation>lo que el trabajador %1 había entrenado desde su último punto de control no se pudo guardar y se entrena de nuevo: %2</translation>
    </message>
    <message>
        <source>this worker lost the lease: its uncommitted work was given to others</source>
        <translation>este trabajador perdió la reserva: su trabajo no confirmado pasó a otros</translation>
    </message>
    <message>
        <source>%1 is outside what a run can hold; choose larger blocks</source>
        <translation>%1 está fuera de lo que admite una ejecución; elija bloques más grandes</translation>
    </message>
    <message>
        <source>%1 has %2 chunks; 1 to 1,000,000 are possible</source>
        <translation>%1 tiene %2 fragmentos; se admiten de 1 a 1.000.000</translation>
    </message>
    <message>
        <source>%1 has a chunk without rows</source>
        <translation>%1 tiene un fragmento sin filas</translation>
    </message>
    <message>
        <source>%1 was prepared with %2 rows, which is not what its block promised</source>
        <translation>%1 se preparó con %2 filas, que no es lo que prometía su bloque</translation>
    </message>
    <message>
        <source>block %1, chunk %2: the rows of a prepared chunk do not add up</source>
        <translation>bloque %1, fragmento %2: las filas de un fragmento preparado no cuadran</translation>
    </message>
    <message>
        <source>block %1 lies after the proven end of the data set</source>
        <translation>el bloque %1 está después del final confirmado del conjunto de datos</translation>
    </message>
    <message>
        <source>the data set ended after %1 blocks before and after %2 now: it has changed</source>
        <translation>el conjunto de datos terminaba antes tras %1 bloques y ahora tras %2: ha cambiado</translation>
    </message>
    <message>
        <source>more blocks are known than the data set is said to have</source>
        <translation>se conocen más bloques de los que se supone que tiene el conjunto de datos</translation>
    </message>
    <message>
        <source>block %1 is not known</source>
        <translation>el bloque %1 no se conoce</translation>
    </message>
    <message>
        <source>block %1 was prepared with another number of chunks</source>
        <translation>el bloque %1 se preparó con otro número de fragmentos</translation>
    </message>
    <message>
        <source>checkpoint folder %1 is recorded already</source>
        <translation>la carpeta de punto de control %1 ya está registrada</translation>
    </message>
    <message>
        <source>checkpoint %1 is in several contributions but not in all: they have no common base</source>
        <translation>el punto de control %1 está en varias contribuciones pero no en todas: no tienen base común</translation>
    </message>
    <message>
        <source>%1 was trained by two contributions; the merge is refused</source>
        <translation>%1 lo entrenaron dos contribuciones; se rechaza la fusión</translation>
    </message>
    <message>
        <source>%1 was never claimed</source>
        <translation>%1 nunca se reservó</translation>
    </message>
    <message>
        <source>%1: its parts overlap or do not add up; run `furrowctl audit`</source>
        <translation>%1: sus partes se solapan o no cuadran; ejecute `furrowctl audit`</translation>
    </message>
    <message>
        <source>%1 is %2 and cannot become %3</source>
        <translation>%1 está en estado %2 y no puede pasar a %3</translation>
    </message>
    <message>
        <source>%1 is not %2 any more</source>
        <translation>%1 ya no está en estado %2</translation>
    </message>
    <message>
        <source>the counters of block %1 are missing; run `furrowctl audit`</source>
        <translation>faltan los contadores del bloque %1; ejecute `furrowctl audit`</translation>
    </message>
    <message>
        <source>a part of a joined transaction was given up</source>
        <translation>se abandonó una parte de una transacción conjunta</translation>
    </message>
    <message>
        <source>%1 is listed twice in one checkpoint, or with an empty range</source>
        <translation>%1 aparece dos veces en un punto de control, o con un rango vacío</translation>
    </message>
    <message>
        <source>this worker does not hold %1 (any more)</source>
        <translation>este trabajador no tiene (o ya no tiene) %1</translation>
    </message>
    <message>
        <source>%1: the checkpoint lists windows that this worker did not train</source>
        <translation>%1: el punto de control enumera ventanas que este trabajador no entrenó</translation>
    </message>
    <message>
        <source>%1: the checkpoint lists windows that another one has already</source>
        <translation>%1: el punto de control enumera ventanas que ya tiene otro</translation>
    </message>
    <message>
        <source>this worker may only commit checkpoints of replica %1</source>
        <translation>este trabajador solo puede confirmar puntos de control de la réplica %1</translation>
    </message>
    <message>
        <source>checkpoint %1 was not made from checkpoint %2, the newest of replica %3</source>
        <translation>el punto de control %1 no se hizo a partir del %2, el más reciente de la réplica %3</translation>
    </message>
    <message>
        <source>%1 was finished already</source>
        <translation>%1 ya estaba terminado</translation>
    </message>
    <message>
        <source>%1 belongs to run %2, this worker was started for run %3</source>
        <translation>%1 pertenece a la ejecución %2; este trabajador se inició para la %3</translation>
    </message>
    <message>
        <source>this worker has started already</source>
        <translation>este trabajador ya ha arrancado</translation>
    </message>
    <message>
        <source>attempt %1 is over; this worker came too late</source>
        <translation>el intento %1 ha terminado; este trabajador llegó demasiado tarde</translation>
    </message>
    <message>
        <source>rank %1 is being trained by process %2</source>
        <translation>el rango %1 lo está entrenando el proceso %2</translation>
    </message>
    <message>
        <source>replica %1 is being trained by process %2</source>
        <translation>la réplica %1 la está entrenando el proceso %2</translation>
    </message>
    <message>
        <source>rank %1 claims nothing: rank 0 claims for all</source>
        <translation>el rango %1 no reserva nada: el rango 0 reserva para todos</translation>
    </message>
    <message>
        <source>%1: the trained windows overlap or are empty</source>
        <translation>%1: las ventanas entrenadas se solapan o están vacías</translation>
    </message>
    <message>
        <source>%1: trained and skipped windows are not what was claimed</source>
        <translation>%1: las ventanas entrenadas y omitidas no son las reservadas</translation>
    </message>
    <message>
        <source>there is no merge round %1</source>
        <translation>no hay ronda de fusión %1</translation>
    </message>
    <message>
        <source>a worker contributes its newest checkpoint (%1), not %2</source>
        <translation>un trabajador aporta su punto de control más reciente (%1), no el %2</translation>
    </message>
    <message>
        <source>merge round %1 is in other hands</source>
        <translation>la ronda de fusión %1 está en otras manos</translation>
    </message>
    <message>
        <source>checkpoint %1 is not among the contributions of merge round %2</source>
        <translation>el punto de control %1 no está entre las contribuciones de la ronda de fusión %2</translation>
    </message>
    <message>
        <source>checkpoint %1 was found damaged and cannot be merged; take the job again</source>
        <translation>el punto de control %1 resultó estar dañado y no se puede fusionar; tome el trabajo de nuevo</translation>
    </message>
    <message>
        <source>attempt %1 ended as failed: %2</source>
        <translation>el intento %1 terminó con error: %2</translation>
    </message>
    <message>
        <source>%1 belongs to %2. Only they, or root, can move it into the trash or out of it.</source>
        <translation>%1 pertenece a %2. Solo esa persona, o root, puede moverla a la papelera o sacarla de ella.</translation>
    </message>
    <message>
        <source>preparing block %1</source>
        <translation>preparando el bloque %1</translation>
    </message>
    <message>
        <source>%1 belongs to %2, who could not write what root makes there. Use `sudo -u %3 furrowctl ...`, or set FURROW_AS_ROOT=1 to do it as root all the same.</source>
        <translation>%1 pertenece a %2, que no podría escribir lo que root crea ahí. Use `sudo -u %3 furrowctl ...`, o ponga FURROW_AS_ROOT=1 para hacerlo como root de todos modos.</translation>
    </message>
    <message>
        <source>The environment names no home folder, so there is no place for what Furrow keeps. Set HOME.</source>
        <translation>El entorno no indica ninguna carpeta personal, así que no hay lugar para lo que Furrow guarda. Defina HOME.</translation>
    </message>
    <message>
        <source>%1 is gated: accept its terms on %2 and set HF_TOKEN to a token of that account.</source>
        <translation>%1 es de acceso restringido: acepte sus condiciones en %2 y ponga en HF_TOKEN un token de esa cuenta.</translation>
    </message>
    <message>
        <source>%1 has no file %2. Its GGUF files: %3.</source>
        <translation>%1 no tiene el archivo %2. Sus archivos GGUF: %3.</translation>
    </message>
    <message>
        <source>%1 has no config.json, so it is not a text model.</source>
        <translation>%1 no tiene config.json, así que no es un modelo de texto.</translation>
    </message>
    <message>
        <source>%1 keeps GGUF files: %2. Name one, as %3/FILE.gguf.</source>
        <translation>%1 contiene archivos GGUF: %2. Indique uno, como %3/ARCHIVO.gguf.</translation>
    </message>
    <message>
        <source>%1 has no safetensors. Weights in other formats (pytorch_model.bin) are programs that run when they are read, and are not taken; look for a copy of the model with safetensors.</source>
        <translation>%1 no tiene safetensors. Los pesos en otros formatos (pytorch_model.bin) son programas que se ejecutan al leerlos y no se aceptan; busque una copia del modelo con safetensors.</translation>
    </message>
    <message>
        <source>%1 of %2 has %3, which no such file has.</source>
        <translation>%1 de %2 ocupa %3, más de lo que ocupa un archivo así.</translation>
    </message>
    <message>
        <source>%1 has %2 files, more than any model.</source>
        <translation>%1 tiene %2 archivos, más que cualquier modelo.</translation>
    </message>
    <message>
        <source>%1 The copy that was fetched before is taken: %2</source>
        <translation>%1 Se usa la copia que se descargó antes: %2</translation>
    </message>
    <message>
        <source>fetching a model was interrupted</source>
        <translation>la descarga de un modelo se interrumpió</translation>
    </message>
    <message>
        <source>%1 is being fetched by %2; this process waits until that has ended.</source>
        <translation>%2 está descargando %1; este proceso espera hasta que termine.</translation>
    </message>
    <message>
        <source>%1 has %2 free and %3 are needed for %4. Make room, or set XDG_DATA_HOME to a folder on a larger disk.</source>
        <translation>%1 tiene %2 libres y hacen falta %3 para %4. Libere espacio, o ponga en XDG_DATA_HOME una carpeta de un disco mayor.</translation>
    </message>
    <message>
        <source>%1 is not a model of the hub. Write hf://owner/name, hf://owner/name/FILE.gguf or hf://owner/name@revision.</source>
        <translation>%1 no es un modelo del hub. Escriba hf://propietario/nombre, hf://propietario/nombre/ARCHIVO.gguf o hf://propietario/nombre@revisión.</translation>
    </message>
    <message>
        <source>it has no text under &apos;question&apos;, &apos;query&apos;, &apos;prompt&apos;, &apos;context&apos;, &apos;ctx&apos; or &apos;input&apos;</source>
        <translation>no tiene texto en «question», «query», «prompt», «context», «ctx» ni «input»</translation>
    </message>
    <message>
        <source>its choices are not a list of two or more texts</source>
        <translation>sus opciones no son una lista de dos textos o más</translation>
    </message>
    <message>
        <source>no choice is named by its &apos;gold&apos;, &apos;answer&apos;, &apos;label&apos;, &apos;answerKey&apos; or &apos;target&apos;</source>
        <translation>ninguna opción corresponde a su «gold», «answer», «label», «answerKey» o «target»</translation>
    </message>
    <message>
        <source>it has neither choices nor a text under &apos;answer&apos;, &apos;target&apos; or &apos;output&apos;</source>
        <translation>no tiene opciones ni texto en «answer», «target» u «output»</translation>
    </message>
    <message>
        <source>it is not UTF-8</source>
        <translation>no es UTF-8</translation>
    </message>
    <message>
        <source>it is broken JSON</source>
        <translation>es JSON defectuoso</translation>
    </message>
    <message>
        <source>line %1 of %2: %3</source>
        <translation>línea %1 de %2: %3</translation>
    </message>
    <message>
        <source>Line %1 of %2 is of another kind than line %3: some questions have choices, others an answer to be written. Put them into two files.</source>
        <translation>La línea %1 de %2 es de otra clase que la línea %3: unas preguntas tienen opciones y otras una respuesta que hay que escribir. Póngalas en dos archivos.</translation>
    </message>
    <message>
        <source>%1 holds no questions.</source>
        <translation>%1 no contiene preguntas.</translation>
    </message>
    <message>
        <source>No line of %1 is a question. The first: %2.</source>
        <translation>Ninguna línea de %1 es una pregunta. La primera: %2.</translation>
    </message>
    <message>
        <source>%1 is a model of the hub and not on this machine yet. &apos;furrowctl model fetch&apos; brings it; then name the folder that this prints.</source>
        <translation>%1 es un modelo del hub y todavía no está en este equipo. «furrowctl model fetch» lo descarga; indique después la carpeta que muestra.</translation>
    </message>
    <message>
        <source>%1 was moved to %2 while the run was being trained, so the attempt ends. Resume it there.</source>
        <translation>%1 se movió a %2 mientras se entrenaba la ejecución, así que el intento termina. Reanúdela allí.</translation>
    </message>
    <message>
        <source>%1 was deleted while the run was being trained, so the attempt ends.</source>
        <translation>%1 se borró mientras se entrenaba la ejecución, así que el intento termina.</translation>
    </message>
    <message>
        <source>The run has ended: %1.</source>
        <translation>La ejecución ha terminado: %1.</translation>
    </message>
    <message>
        <source>the supervisor stands still</source>
        <translation>el supervisor está parado</translation>
    </message>
    <message>
        <source>worker %1 stands still</source>
        <translation>el trabajador %1 está parado</translation>
    </message>
    <message>
        <source>the tracker is locked</source>
        <translation>el registro está bloqueado</translation>
    </message>
    <message>
        <source>its disk is full</source>
        <translation>su disco está lleno</translation>
    </message>
    <message>
        <source>%1 is not there. Is its disk mounted?</source>
        <translation>Falta %1. ¿Está montado su disco?</translation>
    </message>
    <message>
        <source>%1 questions are to be shown with their answers, but there are %2 in all, and none would be left.</source>
        <translation>Se han de mostrar %1 preguntas con sus respuestas, pero hay %2 en total y no quedaría ninguna.</translation>
    </message>
    <message>
        <source>A model without a run has no evaluation text. Name one with --data, or questions with --tasks.</source>
        <translation>Un modelo sin ejecución no tiene texto de evaluación. Indique uno con --data, o preguntas con --tasks.</translation>
    </message>
    <message>
        <source>Fetching %1: %2 files, %3</source>
        <translation>Descargando %1: %2 archivos, %3</translation>
    </message>
    <message>
        <source>Fetching %1: %2 files, %3, of which %4 are here</source>
        <translation>Descargando %1: %2 archivos, %3, de los que %4 ya están aquí</translation>
    </message>
    <message>
        <source>cannot make a pipe</source>
        <translation>no se puede crear una tubería</translation>
    </message>
    <message>
        <source>the process does not read its input</source>
        <translation>el proceso no lee su entrada</translation>
    </message>
    <message>
        <source>cannot start %1: the system allows no more processes</source>
        <translation>no se puede iniciar %1: el sistema no permite más procesos</translation>
    </message>
    <message>
        <source>%1 was killed while it was started</source>
        <translation>se forzó el cierre de %1 mientras se iniciaba</translation>
    </message>
    <message>
        <source>libcurl could not be started</source>
        <translation>no se pudo iniciar libcurl</translation>
    </message>
    <message>
        <source>Reading was stopped.</source>
        <translation>La lectura se detuvo.</translation>
    </message>
    <message>
        <source>reading after the end of a file inside an archive</source>
        <translation>lectura más allá del final de un archivo dentro de un archivo comprimido</translation>
    </message>
    <message>
        <source>reading after the end of what is in memory</source>
        <translation>lectura más allá del final de lo que hay en memoria</translation>
    </message>
    <message>
        <source>%1 is shorter than it was.</source>
        <translation>%1 es más corto que antes.</translation>
    </message>
    <message>
        <source>ICU has lost a converter</source>
        <translation>ICU ha perdido un conversor</translation>
    </message>
    <message>
        <source>ICU cannot convert: %1</source>
        <translation>ICU no puede convertir: %1</translation>
    </message>
    <message>
        <source>init_from could not be checked: furrow-worker ended with %1.</source>
        <translation>no se pudo comprobar init_from: furrow-worker terminó con %1.</translation>
    </message>
    <message>
        <source>no answer in ten minutes</source>
        <translation>sin respuesta en diez minutos</translation>
    </message>
    <message>
        <source>%1 cannot be written: the run opens without its cache</source>
        <translation>%1 no se puede escribir: la ejecución se abre sin su caché</translation>
    </message>
    <message>
        <source>%1 is not a cache of this version</source>
        <translation>%1 no es una caché de esta versión</translation>
    </message>
    <message>
        <source>%1 is cut</source>
        <translation>%1 está truncado</translation>
    </message>
    <message>
        <source>%1: checksum differs</source>
        <translation>%1: la suma de comprobación no coincide</translation>
    </message>
    <message>
        <source>zlib could not be started</source>
        <translation>no se pudo iniciar zlib</translation>
    </message>
    <message>
        <source>the debug bundle could not be compressed</source>
        <translation>no se pudo comprimir el paquete de depuración</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is not the name of a shipped file</source>
        <translation>«%1» no es el nombre de un archivo incluido</translation>
    </message>
    <message>
        <source>%1 cannot be loaded (Windows error %2)</source>
        <translation>no se puede cargar %1 (error %2 de Windows)</translation>
    </message>
    <message>
        <source>the chat template writes something else %1 than in the whole conversation, from byte %2 on (%3, %4), so what the assistant writes cannot be told</source>
        <translation>la plantilla de chat escribe %1 algo distinto que en la conversación entera, a partir del byte %2 (%3, %4), así que no se puede saber qué escribe el asistente</translation>
    </message>
    <message>
        <source>is refused: %1</source>
        <translation>se rechaza: %1</translation>
    </message>
    <message>
        <source>data-parallel training: the ranks lost one another: %1; %2</source>
        <translation>entrenamiento con paralelismo de datos: los rangos perdieron el contacto entre sí: %1; %2</translation>
    </message>
    <message>
        <source>data-parallel training: no meeting through %1: %2</source>
        <translation>entrenamiento con paralelismo de datos: no se logró el encuentro a través de %1: %2</translation>
    </message>
    <message>
        <source>parallel is data, but this furrow-worker was built without NCCL and cannot sum on GPUs. Train on the CPU (devices cpu:2), set parallel to independent, or build with the CUDA wheel of libtorch.</source>
        <translation>parallel es data, pero este furrow-worker se compiló sin NCCL y no puede sumar en las GPU. Entrene en la CPU (devices cpu:2), ponga parallel en independent o compile con el wheel CUDA de libtorch.</translation>
    </message>
    <message>
        <source>parallel is data, but this furrow-worker was built without Gloo&apos;s headers. Set parallel to independent, or install libgloo-dev and build again.</source>
        <translation>parallel es data, pero este furrow-worker se compiló sin las cabeceras de Gloo. Ponga parallel en independent, o instale libgloo-dev y compile de nuevo.</translation>
    </message>
    <message>
        <source>%1 and %2</source>
        <translation>%1 y %2</translation>
    </message>
    <message>
        <source>rank %1 (worker %2)</source>
        <translation>el rango %1 (trabajador %2)</translation>
    </message>
    <message>
        <source>%1 of %2 did not come to the meeting within %3 s. All ranks end and start again together from the last checkpoint.</source>
        <translation>%1 de %2 no acudieron al encuentro en %3 s. Todos los rangos terminan y vuelven a empezar juntos desde el último punto de control.</translation>
    </message>
    <message>
        <source>rank %1 (worker %2, process %3)</source>
        <translation>el rango %1 (trabajador %2, proceso %3)</translation>
    </message>
    <message>
        <source>%1 ended: %2</source>
        <translation>%1 terminó: %2</translation>
    </message>
    <message>
        <source>%1 is gone.</source>
        <translation>%1 ya no existe.</translation>
    </message>
    <message>
        <source>%1 are gone.</source>
        <translation>%1 ya no existen.</translation>
    </message>
    <message>
        <source>%1 does not take part any more: it stands still or hangs.</source>
        <translation>%1 ya no participa: está parado o colgado.</translation>
    </message>
    <message>
        <source>%1 do not take part any more: they stand still or hang.</source>
        <translation>%1 ya no participan: están parados o colgados.</translation>
    </message>
    <message>
        <source>the ranks lost one another, and each of them is alive: %1.</source>
        <translation>los rangos perdieron el contacto entre sí, y todos siguen vivos: %1.</translation>
    </message>
    <message>
        <source>%1 left a collective call out: it is at exchange %2 after %3 sums, another rank at exchange %4 after %5.</source>
        <translation>%1 omitió una llamada colectiva: está en el intercambio %2 tras %3 sumas, y otro rango en el intercambio %4 tras %5.</translation>
    </message>
    <message>
        <source>data-parallel training, rank %1 of %2: %3 All ranks end and start again together from the last checkpoint.</source>
        <translation>entrenamiento con paralelismo de datos, rango %1 de %2: %3 Todos los rangos terminan y vuelven a empezar juntos desde el último punto de control.</translation>
    </message>
    <message>
        <source>%1 belongs to another version of Furrow. Install Furrow again, so that all of its files are of one version.</source>
        <translation>%1 pertenece a otra versión de Furrow. Instale Furrow de nuevo para que todos sus archivos sean de la misma versión.</translation>
    </message>
    <message>
        <source>its end is missing</source>
        <translation>falta su final</translation>
    </message>
    <message>
        <source>its chunk table is not where it should be</source>
        <translation>su tabla de fragmentos no está donde debería</translation>
    </message>
    <message>
        <source>the checksum of its chunk table differs</source>
        <translation>la suma de comprobación de su tabla de fragmentos difiere</translation>
    </message>
    <message>
        <source>it is too short</source>
        <translation>es demasiado corto</translation>
    </message>
    <message>
        <source>it does not begin as one</source>
        <translation>no empieza como tal</translation>
    </message>
    <message>
        <source>the checksum of its header differs</source>
        <translation>la suma de comprobación de su cabecera difiere</translation>
    </message>
    <message>
        <source>it is too short for its chunks</source>
        <translation>es demasiado corto para sus fragmentos</translation>
    </message>
    <message>
        <source>its chunk table is too short</source>
        <translation>su tabla de fragmentos es demasiado corta</translation>
    </message>
    <message>
        <source>a chunk is not where it should be</source>
        <translation>un fragmento no está donde debería</translation>
    </message>
    <message>
        <source>its chunks do not fill it</source>
        <translation>sus fragmentos no lo llenan</translation>
    </message>
    <message>
        <source>its list of unreadable rows cannot be read</source>
        <translation>su lista de filas ilegibles no se puede leer</translation>
    </message>
    <message>
        <source>the checksum of a chunk differs</source>
        <translation>la suma de comprobación de un fragmento difiere</translation>
    </message>
    <message>
        <source>the samples of a chunk do not add up</source>
        <translation>las muestras de un fragmento no cuadran</translation>
    </message>
    <message>
        <source>its SHA-256 differs</source>
        <translation>su SHA-256 difiere</translation>
    </message>
    <message>
        <source>its table is not where it should be</source>
        <translation>su tabla no está donde debería</translation>
    </message>
    <message>
        <source>the checksum of its table differs</source>
        <translation>la suma de comprobación de su tabla difiere</translation>
    </message>
    <message>
        <source>its table is too short</source>
        <translation>su tabla es demasiado corta</translation>
    </message>
    <message>
        <source>its rows do not add up</source>
        <translation>sus filas no cuadran</translation>
    </message>
    <message>
        <source>the checksum of a page differs</source>
        <translation>la suma de comprobación de una página difiere</translation>
    </message>
    <message>
        <source>it names a row that it does not have</source>
        <translation>nombra una fila que no tiene</translation>
    </message>
    <message>
        <source>the evaluation text</source>
        <translation>el texto de evaluación</translation>
    </message>
    <message>
        <source>Line %1 of the quarantine list, &quot;%2&quot;, %3</source>
        <translation>La línea %1 de la lista de cuarentena, «%2», %3</translation>
    </message>
    <message>
        <source>names no chunk: write chunk BLOCK:COLUMN.</source>
        <translation>no nombra ningún fragmento: escriba chunk BLOQUE:COLUMNA.</translation>
    </message>
    <message>
        <source>names no sample: write sample and its fingerprint of 16 hex digits.</source>
        <translation>no nombra ninguna muestra: escriba sample y su huella de 16 dígitos hexadecimales.</translation>
    </message>
    <message>
        <source>is pattern number %1, more than a list may have. Join some with |.</source>
        <translation>es el patrón número %1, más de los que puede tener una lista. Una algunos con |.</translation>
    </message>
    <message>
        <source>holds no regular expression (%1).</source>
        <translation>no contiene una expresión regular (%1).</translation>
    </message>
    <message>
        <source>begins with none of chunk, sample, pattern.</source>
        <translation>no empieza por chunk, sample ni pattern.</translation>
    </message>
    <message>
        <source>reading the quarantine list</source>
        <translation>al leer la lista de cuarentena</translation>
    </message>
    <message>
        <source>no message where one should be</source>
        <translation>falta un mensaje donde debería haber uno</translation>
    </message>
    <message>
        <source>a message that cannot be read</source>
        <translation>un mensaje que no se puede leer</translation>
    </message>
    <message>
        <source>a size that is not a number</source>
        <translation>un tamaño que no es un número</translation>
    </message>
    <message>
        <source>no header where one should be</source>
        <translation>falta una cabecera donde debería haber una</translation>
    </message>
    <message>
        <source>a name of more than 64 KiB</source>
        <translation>un nombre de más de 64 KiB</translation>
    </message>
    <message>
        <source>an extended header of more than 1 MiB</source>
        <translation>una cabecera extendida de más de 1 MiB</translation>
    </message>
    <message>
        <source>an extended header that cannot be read</source>
        <translation>una cabecera extendida que no se puede leer</translation>
    </message>
    <message>
        <source>a place after its end</source>
        <translation>un lugar tras su final</translation>
    </message>
    <message>
        <source>a place that holds none (zip64)</source>
        <translation>un lugar que no contiene ninguno (zip64)</translation>
    </message>
    <message>
        <source>another size than it has</source>
        <translation>un tamaño distinto del que tiene</translation>
    </message>
    <message>
        <source>fewer files than it counts</source>
        <translation>menos archivos de los que cuenta</translation>
    </message>
    <message>
        <source>a size without its value (zip64)</source>
        <translation>un tamaño sin su valor (zip64)</translation>
    </message>
    <message>
        <source>a file where another one stands</source>
        <translation>un archivo donde está otro</translation>
    </message>
    <message>
        <source>a file that is longer than the archive</source>
        <translation>un archivo más largo que el archivo comprimido</translation>
    </message>
    <message>
        <source>two files in one place</source>
        <translation>dos archivos en un mismo lugar</translation>
    </message>
    <message>
        <source>it is not a definition of one</source>
        <translation>no es la definición de uno</translation>
    </message>
    <message>
        <source>its version is not 1; a newer Furrow wrote it</source>
        <translation>su versión no es 1; lo escribió un Furrow más reciente</translation>
    </message>
    <message>
        <source>fallback or code_points is missing</source>
        <translation>falta fallback o code_points</translation>
    </message>
    <message>
        <source>code_points must be ascending code points</source>
        <translation>code_points debe contener puntos de código ascendentes</translation>
    </message>
    <message>
        <source>a Replace has no pattern</source>
        <translation>un Replace no tiene patrón</translation>
    </message>
    <message>
        <source>the decoder %1 is not supported; supported are ByteLevel, WordPiece, ByteFallback, Fuse, Strip, Metaspace, BPEDecoder, Replace and Sequence</source>
        <translation>el decodificador %1 no se admite; se admiten ByteLevel, WordPiece, ByteFallback, Fuse, Strip, Metaspace, BPEDecoder, Replace y Sequence</translation>
    </message>
    <message>
        <source>model.vocab is missing or not an object</source>
        <translation>model.vocab falta o no es un objeto</translation>
    </message>
    <message>
        <source>model.vocab: the id of &quot;%1&quot; is not a number from 0 to %2</source>
        <translation>model.vocab: el identificador de «%1» no es un número de 0 a %2</translation>
    </message>
    <message>
        <source>model.vocab: two tokens have the id %1</source>
        <translation>model.vocab: dos tokens tienen el identificador %1</translation>
    </message>
    <message>
        <source>model.merges: &quot;%1&quot; is not a pair</source>
        <translation>model.merges: «%1» no es un par</translation>
    </message>
    <message>
        <source>model.merges: an entry is not a pair</source>
        <translation>model.merges: una entrada no es un par</translation>
    </message>
    <message>
        <source>model.merges is missing or not a list</source>
        <translation>model.merges falta o no es una lista</translation>
    </message>
    <message>
        <source>model.merges: &quot;%1&quot; is shorter than the prefix of what continues a word</source>
        <translation>model.merges: «%1» es más corto que el prefijo de lo que continúa una palabra</translation>
    </message>
    <message>
        <source>model.merges: &quot;%1&quot; + &quot;%2&quot; or its parts are not in the vocabulary</source>
        <translation>model.merges: «%1» + «%2» o sus partes no están en el vocabulario</translation>
    </message>
    <message>
        <source>it has dropout, which makes ids random</source>
        <translation>tiene dropout, que hace aleatorios los identificadores</translation>
    </message>
    <message>
        <source>the texts of its vocabulary are longer than 16 MiB together</source>
        <translation>los textos de su vocabulario ocupan juntos más de 16 MiB</translation>
    </message>
    <message>
        <source>a token of its vocabulary is longer than 4096 bytes</source>
        <translation>un token de su vocabulario ocupa más de 4096 bytes</translation>
    </message>
    <message>
        <source>model.max_input_chars_per_word is not a number</source>
        <translation>model.max_input_chars_per_word no es un número</translation>
    </message>
    <message>
        <source>model.vocab is missing or not a list</source>
        <translation>model.vocab falta o no es una lista</translation>
    </message>
    <message>
        <source>model.vocab: entry %1 is not a token with its score</source>
        <translation>model.vocab: la entrada %1 no es un token y su puntuación</translation>
    </message>
    <message>
        <source>model.vocab: &quot;%1&quot; is there twice</source>
        <translation>model.vocab: «%1» está dos veces</translation>
    </message>
    <message>
        <source>model.unk_id is not an id of the vocabulary</source>
        <translation>model.unk_id no es un identificador del vocabulario</translation>
    </message>
    <message>
        <source>its model type is %1, supported are BPE, WordPiece, WordLevel and Unigram</source>
        <translation>su tipo de modelo es %1; se admiten BPE, WordPiece, WordLevel y Unigram</translation>
    </message>
    <message>
        <source>precompiled_charsmap is not base64</source>
        <translation>precompiled_charsmap no es base64</translation>
    </message>
    <message>
        <source>the normalizer %1 is not supported; supported are NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Replace, Prepend, BertNormalizer, Nmt, Precompiled, ByteLevel and Sequence</source>
        <translation>el normalizador %1 no se admite; se admiten NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Replace, Prepend, BertNormalizer, Nmt, Precompiled, ByteLevel y Sequence</translation>
    </message>
    <message>
        <source>the split behaviour &quot;%1&quot; is not known</source>
        <translation>no se conoce el modo de división «%1»</translation>
    </message>
    <message>
        <source>a Split has no pattern</source>
        <translation>un Split no tiene patrón</translation>
    </message>
    <message>
        <source>the length of FixedLength is not a number above 0</source>
        <translation>la longitud de FixedLength no es un número mayor que 0</translation>
    </message>
    <message>
        <source>the delimiter of CharDelimiterSplit is not one character</source>
        <translation>el delimitador de CharDelimiterSplit no es un solo carácter</translation>
    </message>
    <message>
        <source>the pre-tokenizer %1 is not supported; supported are ByteLevel, Split, Digits, Metaspace, Whitespace, WhitespaceSplit, Punctuation, BertPreTokenizer, CharDelimiterSplit, FixedLength, UnicodeScripts and Sequence</source>
        <translation>el pretokenizador %1 no se admite; se admiten ByteLevel, Split, Digits, Metaspace, Whitespace, WhitespaceSplit, Punctuation, BertPreTokenizer, CharDelimiterSplit, FixedLength, UnicodeScripts y Sequence</translation>
    </message>
    <message>
        <source>precompiled_charsmap: %1</source>
        <translation>precompiled_charsmap: %1</translation>
    </message>
    <message>
        <source>its array is cut or too long</source>
        <translation>su lista está cortada o es demasiado larga</translation>
    </message>
    <message>
        <source>its texts are not UTF-8</source>
        <translation>sus textos no son UTF-8</translation>
    </message>
    <message>
        <source>it matches backwards</source>
        <translation>coincide hacia atrás</translation>
    </message>
    <message>
        <source>it is longer than 64 KiB</source>
        <translation>ocupa más de 64 KiB</translation>
    </message>
    <message>
        <source>%1 is not known to match as in the tokenizers library</source>
        <translation>no se sabe si %1 coincide como en la biblioteca tokenizers</translation>
    </message>
    <message>
        <source>tokenizer %1</source>
        <translation>tokenizador %1</translation>
    </message>
    <message>
        <source>tokenizer gpt2</source>
        <translation>tokenizador gpt2</translation>
    </message>
    <message>
        <source>%1 are more than %2</source>
        <translation>%1 son más de %2</translation>
    </message>
    <message>
        <source>a Metaspace with prepend_scheme first after another pre-tokenizer and a normalizer is not supported</source>
        <translation>no se admite un Metaspace con prepend_scheme first después de otro pretokenizador y un normalizador</translation>
    </message>
    <message>
        <source>added_tokens: an entry has no id from 0 to %1</source>
        <translation>added_tokens: una entrada no tiene un identificador de 0 a %1</translation>
    </message>
    <message>
        <source>added_tokens: &quot;%1&quot; has the id %2, and the tokenizers library gives it %3</source>
        <translation>added_tokens: «%1» tiene el identificador %2, y la biblioteca tokenizers le da %3</translation>
    </message>
    <message>
        <source>a Sequence has no list %1</source>
        <translation>un Sequence no tiene la lista %1</translation>
    </message>
    <message>
        <source>it is larger than 64 MiB</source>
        <translation>ocupa más de 64 MiB</translation>
    </message>
    <message>
        <source>it has no model</source>
        <translation>no tiene modelo</translation>
    </message>
    <message>
        <source>reading the checkpoints</source>
        <translation>al leer los puntos de control</translation>
    </message>
    <message>
        <source>repairing %1</source>
        <translation>al reparar %1</translation>
    </message>
    <message>
        <source>SHA-256 of manifest.json differs from the tracker&apos;s.</source>
        <translation>el SHA-256 de manifest.json difiere del que tiene el registro.</translation>
    </message>
    <message>
        <source>it belongs to run %1.</source>
        <translation>pertenece a la ejecución %1.</translation>
    </message>
    <message>
        <source>starting the supervisor</source>
        <translation>al iniciar el supervisor</translation>
    </message>
    <message>
        <source>freeing the claims of dead workers</source>
        <translation>al liberar las reservas de trabajadores muertos</translation>
    </message>
    <message>
        <source>taking checkpoints back</source>
        <translation>al recuperar puntos de control</translation>
    </message>
    <message>
        <source>verifying checkpoints</source>
        <translation>al verificar los puntos de control</translation>
    </message>
    <message>
        <source>removing leftovers</source>
        <translation>al quitar los restos</translation>
    </message>
    <message>
        <source>starting the merge</source>
        <translation>al iniciar la fusión</translation>
    </message>
    <message>
        <source>starting the feeder</source>
        <translation>al iniciar el alimentador</translation>
    </message>
    <message>
        <source>starting worker %1</source>
        <translation>al iniciar el trabajador %1</translation>
    </message>
    <message>
        <source>writing telemetry</source>
        <translation>al escribir la telemetría</translation>
    </message>
    <message>
        <source>auditing</source>
        <translation>al auditar</translation>
    </message>
    <message>
        <source>the tracker was rebuilt</source>
        <translation>el registro se reconstruyó</translation>
    </message>
    <message>
        <source>not proven when the tracker was rebuilt</source>
        <translation>no se demostró cuando se reconstruyó el registro</translation>
    </message>
    <message>
        <source>rebuilding the tracker</source>
        <translation>al reconstruir el registro</translation>
    </message>
    <message>
        <source>opening epoch %1</source>
        <translation>al abrir la época %1</translation>
    </message>
    <message>
        <source>keeping a copy before the tracker is migrated</source>
        <translation>al guardar una copia antes de migrar el registro</translation>
    </message>
    <message>
        <source>migrating the tracker to version %1</source>
        <translation>al migrar el registro a la versión %1</translation>
    </message>
    <message>
        <source>out of memory</source>
        <translation>no queda memoria</translation>
    </message>
    <message>
        <source>its numbers add up to more than any run has</source>
        <translation>sus números suman más de lo que tiene ninguna ejecución</translation>
    </message>
    <message>
        <source>syncing the WAL</source>
        <translation>al sincronizar el WAL</translation>
    </message>
    <message>
        <source>creating the tracker</source>
        <translation>al crear el registro</translation>
    </message>
    <message>
        <source>beginning an attempt</source>
        <translation>al empezar un intento</translation>
    </message>
    <message>
        <source>revoking a worker</source>
        <translation>al revocar un trabajador</translation>
    </message>
    <message>
        <source>advancing the epoch</source>
        <translation>al avanzar de época</translation>
    </message>
    <message>
        <source>publishing a snapshot of the tracker</source>
        <translation>al publicar una instantánea del registro</translation>
    </message>
    <message>
        <source>taking a damaged checkpoint out</source>
        <translation>al retirar un punto de control dañado</translation>
    </message>
    <message>
        <source>taking a checkpoint back</source>
        <translation>al recuperar un punto de control</translation>
    </message>
    <message>
        <source>left out: the run went back to %1</source>
        <translation>omitido: la ejecución volvió a %1</translation>
    </message>
    <message>
        <source>going back to %1</source>
        <translation>al volver a %1</translation>
    </message>
    <message>
        <source>opening a merge round</source>
        <translation>al abrir una ronda de fusión</translation>
    </message>
    <message>
        <source>reading what a checkpoint was trained on</source>
        <translation>al leer con qué se entrenó un punto de control</translation>
    </message>
    <message>
        <source>keeping the plan of the learning rate</source>
        <translation>al guardar el plan de la tasa de aprendizaje</translation>
    </message>
    <message>
        <source>committing checkpoint %1</source>
        <translation>al confirmar el punto de control %1</translation>
    </message>
    <message>
        <source>its process is gone</source>
        <translation>su proceso ya no existe</translation>
    </message>
    <message>
        <source>claiming a chunk</source>
        <translation>al reservar un fragmento</translation>
    </message>
    <message>
        <source>finishing %1</source>
        <translation>al terminar %1</translation>
    </message>
    <message>
        <source>left out of merge round %1</source>
        <translation>omitido de la ronda de fusión %1</translation>
    </message>
    <message>
        <source>committing merge round %1</source>
        <translation>al confirmar la ronda de fusión %1</translation>
    </message>
    <message>
        <source>writing checkpoint %1</source>
        <translation>al escribir el punto de control %1</translation>
    </message>
    <message>
        <source>opening block %1</source>
        <translation>al abrir el bloque %1</translation>
    </message>
    <message>
        <source>block %1: the prepared file is not the one that the tracker recorded</source>
        <translation>bloque %1: el archivo preparado no es el que anotó el registro</translation>
    </message>
    <message>
        <source>block %1 has no chunk %2</source>
        <translation>el bloque %1 no tiene el fragmento %2</translation>
    </message>
    <message>
        <source>reading %1</source>
        <translation>al leer %1</translation>
    </message>
    <message>
        <source>looking up block %1</source>
        <translation>al buscar el bloque %1</translation>
    </message>
    <message>
        <source>%1 packs into %2 windows, the tracker says %3</source>
        <translation>%1 se empaqueta en %2 ventanas; el registro dice %3</translation>
    </message>
    <message>
        <source>these are not the weights of the counting model</source>
        <translation>estos no son los pesos del modelo contador</translation>
    </message>
    <message>
        <source>evaluating: %1</source>
        <translation>al evaluar: %1</translation>
    </message>
    <message>
        <source>training %1 on %2 (at most %3 in use): %4</source>
        <translation>al entrenar %1 en %2 (como mucho %3 en uso): %4</translation>
    </message>
    <message>
        <source>the GPUs cannot be used: %1</source>
        <translation>no se pueden usar las GPU: %1</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>no memory left on the host</source>
        <translation>no queda memoria en el equipo</translation>
    </message>
    <message>
        <source>training %1: %2</source>
        <translation>al entrenar %1: %2</translation>
    </message>
    <message>
        <source>Checkpoint %1 has NaN or Inf in its weights.</source>
        <translation>El punto de control %1 tiene NaN o Inf en sus pesos.</translation>
    </message>
    <message>
        <source>Checkpoint %1 does not grow from the base of %2.</source>
        <translation>El punto de control %1 no parte de la base de %2.</translation>
    </message>
    <message>
        <source>Checkpoint %1 stands beside other frozen weights than the replica that merges.</source>
        <translation>El punto de control %1 va con pesos congelados distintos de los de la réplica que fusiona.</translation>
    </message>
    <message>
        <source>it has %1 tensors, not %2</source>
        <translation>tiene %1 tensores, no %2</translation>
    </message>
    <message>
        <source>tensor %1 has no equal of its shape there</source>
        <translation>el tensor %1 no tiene allí un igual de su forma</translation>
    </message>
    <message>
        <source>precision is fp16, which needs a GPU; allowed on this device are auto, fp32, bf16</source>
        <translation>precision es fp16, que necesita una GPU; en este dispositivo se permiten auto, fp32 y bf16</translation>
    </message>
    <message>
        <source>device is %1, but this machine has no usable GPU; choose cpu</source>
        <translation>device es %1, pero este equipo no tiene una GPU utilizable; elija cpu</translation>
    </message>
    <message>
        <source>weights and gradients of %1 do not fit on %2; lower layers, width or vocabulary</source>
        <translation>los pesos y gradientes de %1 no caben en %2; reduzca las capas, la anchura o el vocabulario</translation>
    </message>
    <message>
        <source>creating the model: %1</source>
        <translation>al crear el modelo: %1</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is missing in the saved optimizer state</source>
        <translation>falta el tensor «%1» en el estado guardado del optimizador</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; of the saved optimizer state has another shape or type than this optimizer needs</source>
        <translation>el tensor «%1» del estado guardado del optimizador tiene una forma o un tipo distintos de los que necesita este optimizador</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; of the saved optimizer state is unknown to this optimizer</source>
        <translation>este optimizador no conoce el tensor «%1» del estado guardado</translation>
    </message>
    <message>
        <source>sampling: %1</source>
        <translation>al generar texto: %1</translation>
    </message>
    <message>
        <source>the benchmark was stopped before its first step</source>
        <translation>la prueba de rendimiento se detuvo antes de su primer paso</translation>
    </message>
    <message>
        <source>fit was stopped</source>
        <translation>fit se detuvo</translation>
    </message>
    <message>
        <source>the benchmark was stopped</source>
        <translation>la prueba de rendimiento se detuvo</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos;</source>
        <translation>tensor «%1»</translation>
    </message>
    <message>
        <source>importing %1: %2</source>
        <translation>al importar %1: %2</translation>
    </message>
    <message>
        <source>exporting to %1: %2</source>
        <translation>al exportar a %1: %2</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has a type that safetensors cannot hold</source>
        <translation>el tensor «%1» tiene un tipo que safetensors no puede contener</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; was given twice</source>
        <translation>el tensor «%1» se dio dos veces</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has no usable dtype, shape and data_offsets</source>
        <translation>el tensor «%1» no tiene dtype, shape y data_offsets utilizables</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has type &apos;%2&apos;, which is not supported</source>
        <translation>el tensor «%1» tiene el tipo «%2», que no se admite</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has an impossible shape</source>
        <translation>el tensor «%1» tiene una forma imposible</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos;: shape and type need %2 bytes, but its offsets give another size</source>
        <translation>tensor «%1»: la forma y el tipo necesitan %2 bytes, pero sus posiciones dan otro tamaño</translation>
    </message>
    <message>
        <source>the header is not a JSON object</source>
        <translation>la cabecera no es un objeto JSON</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is listed twice</source>
        <translation>el tensor «%1» figura dos veces</translation>
    </message>
    <message>
        <source>the header lists more than a million tensors</source>
        <translation>la cabecera enumera más de un millón de tensores</translation>
    </message>
    <message>
        <source>__metadata__ is not an object</source>
        <translation>__metadata__ no es un objeto</translation>
    </message>
    <message>
        <source>__metadata__ &apos;%1&apos; is not a string</source>
        <translation>«%1» de __metadata__ no es un texto</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; overlaps another one or leaves a gap</source>
        <translation>el tensor «%1» se solapa con otro o deja un hueco</translation>
    </message>
    <message>
        <source>the file holds %1 bytes of data, its header describes %2</source>
        <translation>el archivo contiene %1 bytes de datos; su cabecera describe %2</translation>
    </message>
    <message>
        <source>the file is too short for safetensors</source>
        <translation>el archivo es demasiado corto para safetensors</translation>
    </message>
    <message>
        <source>the header length %1 is impossible for this file</source>
        <translation>la longitud de cabecera %1 es imposible para este archivo</translation>
    </message>
    <message>
        <source>writing safetensors: %1</source>
        <translation>al escribir safetensors: %1</translation>
    </message>
    <message>
        <source>writing %1</source>
        <translation>al escribir %1</translation>
    </message>
    <message>
        <source>reading %1: %2</source>
        <translation>al leer %1: %2</translation>
    </message>
    <message>
        <source>before this message</source>
        <translation>antes de este mensaje</translation>
    </message>
    <message>
        <source>where this message is the last</source>
        <translation>cuando este mensaje es el último</translation>
    </message>
    <message>
        <source>%1 does not hold the questions this run began with (its SHA-256 differs): answers to it cannot be compared with those before. Put the original file back.</source>
        <translation>%1 no contiene las preguntas con las que empezó esta ejecución (su SHA-256 es otro): las respuestas no se pueden comparar con las de antes. Restaure el archivo original.</translation>
    </message>
    <message>
        <source>Lines of %1 that are not questions and are left out: %2. The first: %3.</source>
        <translation>Líneas de %1 que no son preguntas y se dejan fuera: %2. La primera: %3.</translation>
    </message>
    <message>
        <source>Checkpoints have a part of %1 of these (%2 of their %3 samples), which is kept: only the rest is trained again.</source>
        <translation>Los puntos de control tienen una parte de %1 de estos (%2 de sus %3 muestras), que se conserva: solo se vuelve a entrenar el resto.</translation>
    </message>
    <message>
        <source>accuracy %1 %, by length %2 %, where guessing gets %3 %</source>
        <translation>exactitud %1 %, por longitud %2 %; al azar se logra %3 %</translation>
    </message>
    <message>
        <source>exact match %1 %</source>
        <translation>coincidencia exacta %1 %</translation>
    </message>
    <message>
        <source>the merge</source>
        <translation>la fusión</translation>
    </message>
    <message>
        <source>%1; of %2 questions, by weights with %3 steps, %4</source>
        <translation>%1; de %2 preguntas, con pesos de %3 pasos, %4</translation>
    </message>
    <message>
        <source>The questions of eval_tasks could not be answered: %1</source>
        <translation>No se pudieron responder las preguntas de eval_tasks: %1</translation>
    </message>
    <message>
        <source>a line of the input is not a JSON object</source>
        <translation>una línea de la entrada no es un objeto JSON</translation>
    </message>
    <message>
        <source>a line of the input has no text under &apos;%1&apos;</source>
        <translation>una línea de la entrada no tiene texto en «%1»</translation>
    </message>
    <message>
        <source>(From here on: %1)</source>
        <translation>(Desde aquí: %1)</translation>
    </message>
    <message>
        <source>asking questions: %1</source>
        <translation>al hacer las preguntas: %1</translation>
    </message>
    <message>
        <source>The run of the benchmark is %1: %2</source>
        <translation>La ejecución de la prueba de rendimiento está en estado %1: %2</translation>
    </message>
    <message>
        <source>The run of the benchmark ended with %1. What it said is in %2.</source>
        <translation>La ejecución de la prueba de rendimiento terminó con %1. Su salida está en %2.</translation>
    </message>
    <message>
        <source>%1 does not say where the time went: the worker did not end cleanly.</source>
        <translation>%1 no dice en qué se fue el tiempo: el trabajador no terminó en orden.</translation>
    </message>
    <message>
        <source>The folder %1 cannot be made: %2. Name another one with --folder.</source>
        <translation>No se puede crear la carpeta %1: %2. Indique otra con --folder.</translation>
    </message>
    <message>
        <source>&apos;%1&apos; names no chunk: write BLOCK:CHUNK, for example 3:17.</source>
        <translation>«%1» no nombra ningún fragmento: escriba BLOQUE:FRAGMENTO, por ejemplo 3:17.</translation>
    </message>
    <message>
        <source>Chunk %1 has no sample %2: its samples are 0 to %3.</source>
        <translation>El fragmento %1 no tiene la muestra %2: sus muestras van de 0 a %3.</translation>
    </message>
    <message>
        <source>The run has no chunk %1, or does not know it yet.</source>
        <translation>La ejecución no tiene el fragmento %1 o aún no lo conoce.</translation>
    </message>
    <message>
        <source>Chunk %1 is not poisoned. &apos;furrowctl chunks list&apos; shows those that are.</source>
        <translation>El fragmento %1 no está envenenado. «furrowctl chunks list» muestra los que lo están.</translation>
    </message>
    <message>
        <source>%1 is a file. Name the folder that keeps the runs.</source>
        <translation>%1 es un archivo. Indique la carpeta que guarda las ejecuciones.</translation>
    </message>
    <message>
        <source>%1 exists already. Name a new file with --out, or move that one away.</source>
        <translation>%1 ya existe. Indique un archivo nuevo con --out o aparte ese.</translation>
    </message>
    <message>
        <source>There is no completion for &apos;%1&apos;. Choose bash, zsh or fish.</source>
        <translation>No hay autocompletado para «%1». Elija bash, zsh o fish.</translation>
    </message>
    <message>
        <source>The folder %1 is not there.</source>
        <translation>La carpeta %1 no existe.</translation>
    </message>
    <message>
        <source>--set %1 is not key=value of a setting.</source>
        <translation>--set %1 no es clave=valor de un ajuste.</translation>
    </message>
    <message>
        <source>%1 cannot be read as settings: %2.</source>
        <translation>%1 no se puede leer como ajustes: %2.</translation>
    </message>
    <message>
        <source>Checkpoint %1 cannot be chosen: %2</source>
        <translation>No se puede elegir el punto de control %1: %2</translation>
    </message>
    <message>
        <source>The run has no checkpoint %1 with files; the dry run lists those it has.</source>
        <translation>La ejecución no tiene ningún punto de control %1 con archivos; el ensayo enumera los que tiene.</translation>
    </message>
    <message>
        <source>The run has no checkpoint %1; &apos;furrowctl resume --dry-run&apos; lists those it has.</source>
        <translation>La ejecución no tiene el punto de control %1; «furrowctl resume --dry-run» enumera los que tiene.</translation>
    </message>
    <message>
        <source>%1 is a file. Name a folder on the disk to try.</source>
        <translation>%1 es un archivo. Indique una carpeta del disco que se va a probar.</translation>
    </message>
    <message>
        <source>%1 lies in the run %2. Name a folder outside of every run.</source>
        <translation>%1 está dentro de la ejecución %2. Indique una carpeta fuera de toda ejecución.</translation>
    </message>
    <message>
        <source>--checkpoint chooses the model of --format huggingface; what was measured is of the whole run.</source>
        <translation>--checkpoint elige el modelo de --format huggingface; lo que se midió es de toda la ejecución.</translation>
    </message>
    <message>
        <source>--data gives a loss and --tasks right answers: ask for one after the other.</source>
        <translation>--data da una pérdida y --tasks respuestas correctas: pida una cosa y después la otra.</translation>
    </message>
    <message>
        <source>%1 is for --tasks.</source>
        <translation>%1 es para --tasks.</translation>
    </message>
    <message>
        <source>--type is for --format gguf.</source>
        <translation>--type es para --format gguf.</translation>
    </message>
    <message>
        <source>%1 is not a JSON array of token ids.</source>
        <translation>%1 no es una lista JSON de identificadores de tokens.</translation>
    </message>
    <message>
        <source>%1 has the id %2; the vocabulary of %3 ends at %4.</source>
        <translation>%1 tiene el identificador %2; el vocabulario de %3 termina en %4.</translation>
    </message>
    <message>
        <source>Stopped before the tokenizer was trained.</source>
        <translation>Se detuvo antes de que el tokenizador estuviera entrenado.</translation>
    </message>
    <message>
        <source>No libtorch that fits was found in the active environment, in python3 or in /opt/libtorch. `furrowctl torch find FOLDER` looks elsewhere, `furrowctl torch install` brings one.</source>
        <translation>No se encontró ninguna libtorch adecuada en el entorno activo, en python3 ni en /opt/libtorch. `furrowctl torch find CARPETA` busca en otro lugar, `furrowctl torch install` instala una.</translation>
    </message>
    <message>
        <source>quarantine list &quot;%1&quot;: a name must not be empty, begin with a dot or contain a slash</source>
        <translation>lista de cuarentena «%1»: un nombre no puede estar vacío, empezar por un punto ni contener una barra</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>preset &quot;%1&quot;: a name must not be empty, begin with a dot or contain a slash</source>
        <translation>preajuste «%1»: un nombre no puede estar vacío, empezar por un punto ni contener una barra</translation>
    </message>
    <message>
        <source>the tracker cannot be written</source>
        <translation>no se puede escribir en el registro</translation>
    </message>
    <message>
        <source>%1 is not to be written by anybody: its permissions were changed. What needs to write it waits, and goes on once it can (`chmod u+w`).</source>
        <translation>Nadie puede escribir en %1: se cambiaron sus permisos. Lo que necesita escribir en él espera y continúa en cuanto pueda (`chmod u+w`).</translation>
    </message>
    <message>
        <source>The tracker of %1 names process %2, which is none of the run; it is left alone.</source>
        <translation>El registro de %1 nombra el proceso %2, que no es de la ejecución; no se toca.</translation>
    </message>
    <message>
        <source>%1 is in the data twice: its rows are trained twice in each epoch. Name it once if that is not meant.</source>
        <translation>%1 está dos veces en los datos: sus filas se entrenan dos veces en cada época. Nómbrelo una sola vez si no es lo que quiere.</translation>
    </message>
    <message>
        <source>%1 has the content of %2: its rows are trained twice in each epoch. Leave one out if that is not meant.</source>
        <translation>%1 tiene el contenido de %2: sus filas se entrenan dos veces en cada época. Omita uno si no es lo que quiere.</translation>
    </message>
    <message>
        <source>%1 more files are in the data more than once.</source>
        <translation>Otros %1 archivos están en los datos más de una vez.</translation>
    </message>
    <message>
        <source>%1 is hidden (its name begins with a dot) and was left out. Rename it if it is meant.</source>
        <translation>%1 está oculto (su nombre empieza por un punto) y se omitió. Cámbiele el nombre si debe usarse.</translation>
    </message>
    <message>
        <source>%1 columns are called %2; the first one is read.</source>
        <translation>%1 columnas se llaman %2; se lee la primera.</translation>
    </message>
    <message>
        <source>There is another column %1; write it so if it is meant.</source>
        <translation>Hay otra columna %1; escríbala así si es la deseada.</translation>
    </message>
    <message>
        <source>%1 has carriage returns and no line feed. A line ends at a line feed, so its lines are one; convert them (tr &apos;\r&apos; &apos;\n&apos; &lt; FILE) if they are meant.</source>
        <translation>%1 tiene retornos de carro y ningún salto de línea. Una línea termina en un salto de línea, así que sus líneas son una sola; conviértalas (tr &apos;\r&apos; &apos;\n&apos; &lt; ARCHIVO) si deben ser varias.</translation>
    </message>
    <message>
        <source>more follows the mark of its end, as in archives that were joined</source>
        <translation>sigue algo más después de la marca de su final, como en archivos que se unieron</translation>
    </message>
    <message>
        <source>--checkpoints names a checkpoint twice: it would count twice in the average.</source>
        <translation>--checkpoints nombra un punto de control dos veces: contaría dos veces en la media.</translation>
    </message>
    <message>
        <source>A run has at most %1 tags.</source>
        <translation>Una ejecución tiene como máximo %1 etiquetas.</translation>
    </message>
    <message>
        <source>The tag %1 is too long. Keep what is longer than a few words as a note.</source>
        <translation>La etiqueta %1 es demasiado larga. Guarde como nota lo que tenga más de unas pocas palabras.</translation>
    </message>
    <message>
        <source>%1, which holds tags, notes and the queue, is damaged. Move it away: Furrow makes a new one, and the runs are as they were.</source>
        <translation>%1, que contiene etiquetas, notas y la cola, está dañado. Apártelo: Furrow crea uno nuevo y las ejecuciones quedan como estaban.</translation>
    </message>
    <message>
        <source>has no turn of the assistant that is to be learnt (weight 0, or train false)</source>
        <translation>no tiene ningún turno del asistente que deba aprenderse (weight 0 o train false)</translation>
    </message>
    <message>
        <source>The column history is not read: a row is one question with its answer. Write earlier turns as messages.</source>
        <translation>La columna history no se lee: una fila es una pregunta con su respuesta. Escriba los turnos anteriores como messages.</translation>
    </message>
    <message>
        <source>1 sample is longer than a window; its end is cut off and not trained.</source>
        <translation>1 muestra es más larga que una ventana; su final se corta y no se entrena.</translation>
    </message>
    <message>
        <source>%1 samples are longer than a window; their ends are cut off and not trained.</source>
        <translation>%1 muestras son más largas que una ventana; sus finales se cortan y no se entrenan.</translation>
    </message>
    <message>
        <source>1 sample is longer than a window and is left out, among the filtered ones.</source>
        <translation>1 muestra es más larga que una ventana y se omite; se cuenta entre las filtradas.</translation>
    </message>
    <message>
        <source>%1 samples are longer than a window and are left out, among the filtered ones.</source>
        <translation>%1 muestras son más largas que una ventana y se omiten; se cuentan entre las filtradas.</translation>
    </message>
    <message>
        <source>%1 was removed.</source>
        <translation>%1 se eliminó.</translation>
    </message>
    <message>
        <source>%1 was asked to end and is still held by a process that cannot be seen from here, perhaps in another container. It ends as soon as that goes on; else end that container.</source>
        <translation>Se pidió a %1 que terminara y aún la tiene un proceso que no se ve desde aquí, quizá en otro contenedor. Termina en cuanto ese continúe; si no, termine ese contenedor.</translation>
    </message>
    <message>
        <source>its disk has room but can hold no more files (no inodes are left); remove some files and try again</source>
        <translation>su disco tiene sitio, pero no admite más archivos (no quedan inodos); elimine algunos archivos e inténtelo de nuevo</translation>
    </message>
    <message>
        <source>the file is larger than its disk can hold; choose another place</source>
        <translation>el archivo es mayor de lo que admite su disco; elija otro lugar</translation>
    </message>
    <message>
        <source>files may not be larger than %1 here; raise the limit (ulimit -f) and start again</source>
        <translation>aquí los archivos no pueden superar %1; suba el límite (ulimit -f) y empiece de nuevo</translation>
    </message>
    <message>
        <source>the two places are on different disks; move it by hand</source>
        <translation>los dos lugares están en discos distintos; muévalo a mano</translation>
    </message>
    <message>
        <source>%1 is not running: %2 works on it. Wait until that has ended.</source>
        <translation>%1 no está en marcha: %2 trabaja en ella. Espere a que termine.</translation>
    </message>
    <message>
        <source>%1 The process that holds the run cannot be seen from here, perhaps because it is in another container. End the run there, or end that container.</source>
        <translation>%1 El proceso que tiene la ejecución no se ve desde aquí, quizá porque está en otro contenedor. Termine la ejecución allí, o termine ese contenedor.</translation>
    </message>
    <message>
        <source>%1 is in use: %2 works on it. Wait until that has ended.</source>
        <translation>%1 está en uso: %2 trabaja en ella. Espere a que termine.</translation>
    </message>
    <message>
        <source>%1 is in use: %2 holds %3 and is not a program of Furrow. End it, or wait until it lets go.</source>
        <translation>%1 está en uso: %2 tiene bloqueado %3 y no es un programa de Furrow. Termínelo, o espere a que lo suelte.</translation>
    </message>
    <message>
        <source>its supervisor is silent</source>
        <translation>su supervisor calla</translation>
    </message>
    <message>
        <source>The supervisor cannot be seen from here, perhaps because it runs in another container, and wrote nothing for %1. Where that container was paused, let it go on.</source>
        <translation>El supervisor no se ve desde aquí, quizá porque está en otro contenedor, y no ha escrito nada en %1. Si ese contenedor se pausó, deje que continúe.</translation>
    </message>
    <message>
        <source>The worker is alive.</source>
        <translation>El trabajador está vivo.</translation>
    </message>
    <message>
        <source>The worker is not alive.</source>
        <translation>El trabajador no está vivo.</translation>
    </message>
    <message>
        <source>A process that cannot be seen from here, perhaps in another container, holds the run; its last heartbeat is %1 ago.</source>
        <translation>Un proceso que no se ve desde aquí, quizá en otro contenedor, tiene a su cargo la ejecución; su último latido fue hace %1.</translation>
    </message>
    <message>
        <source>The supervisor (process %1, in another container) holds the run; its last heartbeat is %2 ago.</source>
        <translation>El supervisor (proceso %1, en otro contenedor) tiene a su cargo la ejecución; su último latido fue hace %2.</translation>
    </message>
    <message>
        <source>The numbers are those of an older snapshot, of %1, for the tracker cannot be read now. %2</source>
        <translation>Los números son los de una instantánea anterior, de %1, porque ahora no se puede leer el registro. %2</translation>
    </message>
    <message>
        <source>an older snapshot is shown</source>
        <translation>se muestra una instantánea anterior</translation>
    </message>
    <message>
        <source>its disk can hold no more files</source>
        <translation>su disco no admite más archivos</translation>
    </message>
    <message>
        <source>The disk of %1 can hold no more files (no inodes are left): nothing is saved until some are removed.</source>
        <translation>El disco de %1 no admite más archivos (no quedan inodos): no se guarda nada hasta que se eliminen algunos.</translation>
    </message>
    <message>
        <source>%1 is a link. Only runs go to the trash; remove the link yourself.</source>
        <translation>%1 es un enlace. A la papelera solo van ejecuciones; elimine el enlace usted mismo.</translation>
    </message>
    <message>
        <source>%1 is not a run: it has no run.json. Only runs go to the trash.</source>
        <translation>%1 no es una ejecución: no tiene run.json. A la papelera solo van ejecuciones.</translation>
    </message>
    <message>
        <source>%1 holds several JSON documents that go over lines. Write one object per line (jsonl), or one list of them.</source>
        <translation>%1 contiene varios documentos JSON que ocupan varias líneas. Escriba un objeto por línea (jsonl) o una sola lista de ellos.</translation>
    </message>
    <message>
        <source>Replicas with weights of their own: %1; from now on: %2. They are not merged (merge is none): those without a worker keep their weights and are trained no further.</source>
        <translation>Réplicas con pesos propios: %1; desde ahora: %2. No se fusionan (merge es none): las que quedan sin trabajador conservan sus pesos y no se entrenan más.</translation>
    </message>
    <message>
        <source>Replicas with weights of their own: %1; from now on: %2. Before the first step they are merged (%3), and each starts from the merge.</source>
        <translation>Réplicas con pesos propios: %1; desde ahora: %2. Antes del primer paso se fusionan (%3), y cada una parte de la fusión.</translation>
    </message>
    <message>
        <source>%1 of the %2 samples that were read cannot be used; the first: %3.</source>
        <translation>%1 de las %2 muestras leídas no se pueden usar; la primera: %3.</translation>
    </message>
    <message>
        <source>%1 of the %2 samples that were read are filtered.</source>
        <translation>%1 de las %2 muestras leídas quedan filtradas.</translation>
    </message>
    <message>
        <source>%1 of the %2 samples that were read are repeats.</source>
        <translation>%1 de las %2 muestras leídas son repeticiones.</translation>
    </message>
    <message>
        <source>%1 of the %2 samples that were read are longer than a window.</source>
        <translation>%1 de las %2 muestras leídas son más largas que una ventana.</translation>
    </message>
    <message>
        <source>%1 of the %2 samples that were read have bytes or escapes that are not characters.</source>
        <translation>%1 de las %2 muestras leídas tienen bytes o secuencias de escape que no son caracteres.</translation>
    </message>
    <message>
        <source>%1 % of the tokens stand for characters that the tokenizer does not have.</source>
        <translation>El %1 % de los tokens representa caracteres que el tokenizador no tiene.</translation>
    </message>
    <message>
        <source>it is the block %1 under another name</source>
        <translation>es el bloque %1 con otro nombre</translation>
    </message>
    <message>
        <source>The %1 rows from row %2 of %3 on are one chunk of more than %4 of text: its rows are much longer than those around them. Begin a new run with fewer chunk_samples.</source>
        <translation>Las %1 filas a partir de la fila %2 de %3 son un fragmento de más de %4 de texto: sus filas son mucho más largas que las de alrededor. Empiece una ejecución nueva con menos chunk_samples.</translation>
    </message>
    <message>
        <source>%1 rows of block %2: %3</source>
        <translation>%1 filas del bloque %2: %3</translation>
    </message>
    <message>
        <source>block %1 was prepared already and stays as it was planned</source>
        <translation>el bloque %1 ya se había preparado y queda como se planificó</translation>
    </message>
    <message>
        <source>%1 is named twice. Nothing was moved.</source>
        <translation>%1 se nombra dos veces. No se movió nada.</translation>
    </message>
    <message>
        <source>a thread could not be made (%1): the limits on memory (ulimit -v) and on processes and threads (ulimit -u) leave no room for one. Raise them, or use fewer workers and threads.</source>
        <translation>no se pudo crear un hilo (%1): los límites de memoria (ulimit -v) y de procesos e hilos (ulimit -u) no dejan sitio para él. Auméntelos, o use menos trabajadores e hilos.</translation>
    </message>
    <message>
        <source>The settings that the tracker kept of attempt %1 were set aside, so that those of run.json hold. What a resume had changed must be given again. They could not be used: %2</source>
        <translation>Los ajustes que el registro guardaba del intento %1 se apartaron, así que valen los de run.json. Lo que una reanudación había cambiado debe indicarse de nuevo. No se podían usar: %2</translation>
    </message>
    <message>
        <source>The tracker keeps settings of attempt %1 that a resume cannot use: %2 &apos;furrowctl doctor %3 --repair&apos; sets them aside, so that those of run.json hold.</source>
        <translation>El registro guarda ajustes del intento %1 que una reanudación no puede usar: %2 «furrowctl doctor %3 --repair» los aparta, de modo que valen los de run.json.</translation>
    </message>
    <message>
        <source>The settings that tracker.sqlite keeps of attempt %1 cannot be read: %2 &apos;furrowctl doctor --repair&apos; with the folder of the run sets them aside; those of run.json hold then.</source>
        <translation>Los ajustes que tracker.sqlite guarda del intento %1 no se pueden leer: %2 «furrowctl doctor --repair» con la carpeta de la ejecución los aparta; entonces valen los de run.json.</translation>
    </message>
    <message>
        <source>checkpoint %1 cannot be used: its %2 cannot be read (%3), though the hashes of its files fit.</source>
        <translation>el punto de control %1 no se puede usar: su %2 no se puede leer (%3), aunque los hashes de sus archivos coinciden.</translation>
    </message>
    <message>
        <source>%1 keeps this of attempt %2. &apos;furrowctl doctor %3 --repair&apos; sets the settings of that attempt aside; those of run.json hold then.</source>
        <translation>%1 guarda esto del intento %2. «furrowctl doctor %3 --repair» aparta los ajustes de ese intento; entonces valen los de run.json.</translation>
    </message>
    <message>
        <source>the settings of attempt %1 were set aside: %2</source>
        <translation>los ajustes del intento %1 se apartaron: %2</translation>
    </message>
    <message>
        <source>setting the settings of an attempt aside</source>
        <translation>apartar los ajustes de un intento</translation>
    </message>
    <message>
        <source>The cause is %1 bytes long, allowed are %2: it is kept with each chunk and shown for it in every epoch.</source>
        <translation>El motivo tiene %1 bytes, se permiten %2: se guarda con cada fragmento y se muestra para él en cada época.</translation>
    </message>
    <message>
        <source>%1, which holds tags, notes and the queue, is a link to what is not there. Bring that back, or remove the link: Furrow makes a new file then.</source>
        <translation>%1, que guarda etiquetas, notas y la cola, es un enlace a algo que no existe. Recupérelo, o quite el enlace: Furrow crea entonces un archivo nuevo.</translation>
    </message>
    <message>
        <source>%1 should hold tags, notes and the queue, and is a database of another program. Move it away: Furrow makes a new one, and the runs are as they were.</source>
        <translation>%1 debería guardar etiquetas, notas y la cola, y es una base de datos de otro programa. Apártela: Furrow crea una nueva, y las ejecuciones quedan como estaban.</translation>
    </message>
    <message>
        <source>Process %1, which the tracker names as a worker, trains in another folder: this one is a copy.</source>
        <translation>El proceso %1, que el registro nombra como trabajador, entrena en otra carpeta: esta es una copia.</translation>
    </message>
    <message>
        <source>The clock here is %1 ahead of that of the run; times are told by that of the run.</source>
        <translation>El reloj de aquí va %1 adelantado respecto al de la ejecución; las horas se dan según el de la ejecución.</translation>
    </message>
    <message>
        <source>The clock here is %1 behind that of the run; times are told by that of the run.</source>
        <translation>El reloj de aquí va %1 atrasado respecto al de la ejecución; las horas se dan según el de la ejecución.</translation>
    </message>
    <message>
        <source>%1 is gone. Is its disk still there? The attempt waits for it, %2 at most.</source>
        <translation>%1 ha desaparecido. ¿Sigue ahí su disco? El intento lo espera, %2 como máximo.</translation>
    </message>
    <message>
        <source>%1 has been gone for %2, so the attempt ends. Bring its disk back and resume: what the checkpoints have is kept.</source>
        <translation>%1 falta desde hace %2, así que el intento termina. Vuelva a conectar su disco y reanude: lo que tienen los puntos de control se conserva.</translation>
    </message>
    <message>
        <source>%1 Until then the settings of the console are the built-in ones, and changes are not kept.</source>
        <translation>%1 Hasta entonces los ajustes de la consola son los predeterminados, y los cambios no se guardan.</translation>
    </message>
    <message>
        <source>%1 %2 of the data cannot be read now. Bring back the disk or share, or put the data back.</source>
        <translation>%1 Ahora no se puede leer %2 de los datos. Vuelva a conectar el disco o la carpeta compartida, o restaure los datos.</translation>
    </message>
    <message>
        <source>%1 The data changed since the run was made (%2), so its blocks would not be the same. Restore the data and resume, go on without what changed (resume with %3), or start a new run on the data as it is now.</source>
        <translation>%1 Los datos cambiaron desde que se hizo la ejecución (%2), así que sus bloques no serían los mismos. Restaure los datos y reanude, siga sin lo que cambió (reanude con %3), o empiece una ejecución nueva con los datos como están ahora.</translation>
    </message>
    <message>
        <source>%1 does not answer: is its disk or share there? The run waits for it.</source>
        <translation>%1 no responde: ¿está disponible su disco o carpeta compartida? La ejecución lo espera.</translation>
    </message>
    <message>
        <source>The data cannot be read; what is prepared of it is trained meanwhile: %1</source>
        <translation>Los datos no se pueden leer; mientras tanto se entrena lo que está preparado: %1</translation>
    </message>
    <message>
        <source>The run waits for its data, and trains nothing meanwhile: %1</source>
        <translation>La ejecución espera sus datos, y mientras tanto no entrena nada: %1</translation>
    </message>
    <message>
        <source>The data cannot be read since %1; what is prepared of it is trained meanwhile: %2. Next try in %3 s.</source>
        <translation>Los datos no se pueden leer desde %1; mientras tanto se entrena lo que está preparado: %2. Próximo intento en %3 s.</translation>
    </message>
    <message>
        <source>The run waits for its data since %1, and trains nothing meanwhile: %2. Next try in %3 s.</source>
        <translation>La ejecución espera sus datos desde %1, y mientras tanto no entrena nada: %2. Próximo intento en %3 s.</translation>
    </message>
    <message>
        <source>waiting for its data</source>
        <translation>espera sus datos</translation>
    </message>
    <message>
        <source>%1. Waiting since %2, trying again in %3 s.</source>
        <translation>%1. En espera desde %2, nuevo intento en %3 s.</translation>
    </message>
    <message>
        <source>epochs %1 to %2: %3</source>
        <translation>épocas %1 a %2: %3</translation>
    </message>
    <message>
        <source>a part of the data cannot be read (%1). Resuming tries it again; with %2 it goes on without it. Mended data is other data and needs a new run.</source>
        <translation>una parte de los datos no se puede leer (%1). Al reanudar se intenta de nuevo; con %2 se sigue sin ella. Unos datos reparados son otros datos y necesitan una ejecución nueva.</translation>
    </message>
    <message>
        <source>%1 % of the text prepared so far is characters that the tokenizer has no token for: they are dropped. Set encoding if the text is read wrongly, or take another tokenizer.</source>
        <translation>El %1 % del texto preparado hasta ahora son caracteres para los que el tokenizador no tiene token: se descartan. Indique encoding si el texto se lee mal, o use otro tokenizador.</translation>
    </message>
    <message>
        <source>%1 leads to %2, which is not a web address (http or https), and is not followed.</source>
        <translation>%1 lleva a %2, que no es una dirección web (http o https), y no se sigue.</translation>
    </message>
    <message>
        <source>%1 has text after the closing quote of a field (record %2): it is kept as part of the field. Check whether a quote or a delimiter is missing.</source>
        <translation>%1 tiene texto tras la comilla de cierre de un campo (registro %2): se conserva como parte del campo. Compruebe si falta una comilla o un delimitador.</translation>
    </message>
    <message>
        <source>%1 has carriage returns and no line feed. A line ends at a line feed, so all of it is one row, which is not JSON; convert them (tr &apos;\r&apos; &apos;\n&apos; &lt; FILE).</source>
        <translation>%1 tiene retornos de carro y ningún salto de línea. Una línea termina en un salto de línea, así que todo es una sola fila, que no es JSON; conviértalos (tr &apos;\r&apos; &apos;\n&apos; &lt; ARCHIVO).</translation>
    </message>
    <message>
        <source>The filters leave no row of the data.</source>
        <translation>Los filtros no dejan ninguna fila de los datos.</translation>
    </message>
    <message>
        <source>No row of the data is left: the first one %1, and the filters leave none that can be read.</source>
        <translation>No queda ninguna fila de los datos: la primera %1, y los filtros no dejan ninguna que se pueda leer.</translation>
    </message>
    <message>
        <source>%1 characters of the samples that were read have no token and are dropped: the tokenizer has no unknown token that would stand for them.</source>
        <translation>%1 caracteres de las muestras leídas no tienen token y se descartan: el tokenizador no tiene un token desconocido que los represente.</translation>
    </message>
    <message>
        <source>The cache %1 is full: its cap is %2, %3 of it are needed by what this program reads, no other one uses it, and %4 more are to be written. Raise cache_gib.</source>
        <translation>La caché %1 está llena: su límite es %2, %3 los necesita lo que lee este programa, ningún otro la usa, y hay que escribir %4 más. Aumente cache_gib.</translation>
    </message>
    <message>
        <source>%1 is %2 when it is unpacked, which is more than the whole cache may hold (cache_gib: %3). Raise cache_gib, or unpack the file yourself: a plain file is read where it lies.</source>
        <translation>%1 ocupa %2 descomprimido, más de lo que puede contener toda la caché (cache_gib: %3). Aumente cache_gib o descomprima el archivo usted mismo: un archivo sin comprimir se lee donde está.</translation>
    </message>
    <message>
        <source>%1 is a hidden folder (its name begins with a dot): the data files in it were left out. Rename it if they are meant.</source>
        <translation>%1 es una carpeta oculta (su nombre empieza por un punto): sus archivos de datos se dejaron fuera. Cámbiele el nombre si los quiere usar.</translation>
    </message>
    <message>
        <source>%1 is %2, but the largest compressed file is about %3 when it is unpacked, and two prepared blocks of %4 samples take about %5. Raise it, or unpack the file yourself.</source>
        <translation>%1 es %2, pero el mayor archivo comprimido ocupa unos %3 descomprimido y dos bloques preparados de %4 muestras ocupan unos %5. Auméntelo o descomprima el archivo usted mismo.</translation>
    </message>
    <message>
        <source>%1 is %2, and all %3 samples that pass the filters are too long for a window: with the end-of-text after it a sample may have %4 tokens. Set it to split, or raise %5.</source>
        <translation>%1 es %2 y las %3 muestras que pasan los filtros son demasiado largas para una ventana: con el fin de texto detrás, una muestra puede tener %4 tokens. Póngalo en split o aumente %5.</translation>
    </message>
    <message>
        <source>%1 is %2, and all %3 samples that pass the filters are held out: none is left to train. Lower it.</source>
        <translation>%1 es %2 y las %3 muestras que pasan los filtros se reservan: no queda ninguna para entrenar. Redúzcalo.</translation>
    </message>
    <message>
        <source>None of the %1 samples of the data that pass the filters can be used: the first %2.</source>
        <translation>Ninguna de las %1 muestras de los datos que pasan los filtros se puede usar: la primera %2.</translation>
    </message>
    <message>
        <source>%1 characters of the text prepared so far have no token and are dropped: the tokenizer has no unknown token that would stand for them.</source>
        <translation>%1 caracteres del texto preparado hasta ahora no tienen token y se descartan: el tokenizador no tiene un token desconocido que los represente.</translation>
    </message>
    <message>
        <source>row %1 (counted from 0) of %2</source>
        <translation>fila %1 (contada desde 0) de %2</translation>
    </message>
    <message>
        <source>%1 has no text in a column &apos;%2&apos;, which was found in %3 and counts for all files of a source. Its columns with text are: %4. Name a column that all of them have with text_column, name this file as a source of its own, or leave it out.</source>
        <translation>%1 no tiene texto en una columna «%2», que se encontró en %3 y vale para todos los archivos de una fuente. Sus columnas con texto son: %4. Indique con text_column una columna que tengan todos, nombre este archivo como fuente propia o déjelo fuera.</translation>
    </message>
    <message>
        <source>That is %1 % of them, and max_unreadable_percent allows %2 %: the run would stop. Mend the data, or set a higher limit.</source>
        <translation>Es el %1 % de ellas, y max_unreadable_percent permite el %2 %: la ejecución se detendría. Corrija los datos o ponga un límite más alto.</translation>
    </message>
    <message>
        <source>The text is column %1, the first one that can hold text.</source>
        <translation>El texto es la columna %1, la primera que puede contener texto.</translation>
    </message>
    <message>
        <source>The text is column %1: it has the most text.</source>
        <translation>El texto es la columna %1: es la que más texto tiene.</translation>
    </message>
    <message>
        <source>%1 is %2, not text. Only text can be trained: leave it out.</source>
        <translation>%1 es %2, no texto. Solo se puede entrenar texto: déjelo fuera.</translation>
    </message>
    <message>
        <source>%1 is %2. Save its table as csv and name that file.</source>
        <translation>%1 es %2. Guarde su tabla como csv e indique ese archivo.</translation>
    </message>
    <message>
        <source>%1 is %2, not text. Save it as plain text (.txt) and name that file.</source>
        <translation>%1 es %2, no texto. Guárdelo como texto sin formato (.txt) e indique ese archivo.</translation>
    </message>
    <message>
        <source>%1 is %2, which Furrow does not read. Write its texts as jsonl, csv or Parquet and name that file.</source>
        <translation>%1 es %2, que Furrow no lee. Escriba sus textos como jsonl, csv o Parquet e indique ese archivo.</translation>
    </message>
    <message>
        <source>%1 is %2, not text. Give it its right name.</source>
        <translation>%1 es %2, no texto. Dele su nombre correcto.</translation>
    </message>
    <message>
        <source>%1 is %2, which Furrow does not open. Unpack it and name the folder.</source>
        <translation>%1 es %2, que Furrow no abre. Desempaquételo e indique la carpeta.</translation>
    </message>
    <message>
        <source>row %1 (line %2) of %3 %4</source>
        <translation>la fila %1 (línea %2) de %3 %4</translation>
    </message>
    <message>
        <source>row %1 (counted from 0) of %2 %3</source>
        <translation>la fila %1 (contada desde 0) de %2 %3</translation>
    </message>
    <message>
        <source>%1 is %2, but %3 stream knows no samples.</source>
        <translation>%1 es %2, pero %3 stream no conoce muestras.</translation>
    </message>
    <message>
        <source>%1 is %2, but %3 needs the gradient of each window alone, which is not known with it.</source>
        <translation>%1 es %2, pero %3 necesita el gradiente de cada ventana por separado, que así no se conoce.</translation>
    </message>
    <message>
        <source>%1 is %2, but %3 is 0: without noise there is no guarantee.</source>
        <translation>%1 es %2, pero %3 es 0: sin ruido no hay garantía.</translation>
    </message>
    <message>
        <source>%1 is 0, but %2 is %3: an epsilon is one at a delta above 0, such as 0.000001.</source>
        <translation>%1 es 0, pero %2 es %3: un épsilon solo lo es con un delta mayor que 0, por ejemplo 0.000001.</translation>
    </message>
    <message>
        <source>%1 is %2, which does not allow one epoch: that gives %3 with %4 %5, and needs noise of %6.</source>
        <translation>%1 es %2, lo que no permite ni una época: esta da %3 con %4 %5 y necesita un ruido de %6.</translation>
    </message>
    <message>
        <source>%1 is sample, but %2 is 0: nothing is hidden without noise.</source>
        <translation>%1 es sample, pero %2 es 0: sin ruido no se oculta nada.</translation>
    </message>
    <message>
        <source>%1 is %2, but %3 is 0: noise hides a window only if its part is bounded, such as by 1.</source>
        <translation>%1 es %2, pero %3 es 0: el ruido solo oculta una ventana si su parte está acotada, por ejemplo por 1.</translation>
    </message>
    <message>
        <source>%1 is stream, which does not count how often a window is trained, but %2 is %3.</source>
        <translation>%1 es stream, que no cuenta cuántas veces se entrena una ventana, pero %2 es %3.</translation>
    </message>
    <message>
        <source>%1 is on, but it follows losses that no noise hides; with %2 the rate follows %3 alone.</source>
        <translation>%1 está activado, pero sigue pérdidas que ningún ruido oculta; con %2 la tasa sigue solo a %3.</translation>
    </message>
    <message>
        <source>%1 is %2, where a window holds parts of several samples, but %3 is sample; allowed is single.</source>
        <translation>%1 es %2, con lo que una ventana contiene partes de varias muestras, pero %3 es sample; se permite single.</translation>
    </message>
    <message>
        <source>%1 is split, so that a long sample has several windows, but %2 is sample; allowed is cut or leave_out.</source>
        <translation>%1 es split, con lo que una muestra larga tiene varias ventanas, pero %2 es sample; se permite cut o leave_out.</translation>
    </message>
    <message>
        <source>%1 asks for several epochs, but %2 is window, whose text is another one in each of them where %3 is on. Allowed is one epoch, or %4 sample, or no shuffling.</source>
        <translation>%1 pide varias épocas, pero %2 es window, cuyo texto es otro en cada una de ellas cuando %3 está activado. Se permite una época, o %4 sample, o no barajar.</translation>
    </message>
    <message>
        <source>The unit is a sample: a row of the data, in a window of its own. There are %1.</source>
        <translation>La unidad es una muestra: una fila de los datos, en una ventana propia. Hay %1.</translation>
    </message>
    <message>
        <source>The unit is a window: %1 tokens, as they were trained together. There are %2.</source>
        <translation>La unidad es una ventana: %1 tokens, tal como se entrenaron juntos. Hay %2.</translation>
    </message>
    <message>
        <source>No epsilon is stated: something is wrong with the ledger, and so nothing proves how often a unit took part.</source>
        <translation>No se indica ningún épsilon: algo está mal en el registro, así que nada prueba cuántas veces participó una unidad.</translation>
    </message>
    <message>
        <source>No epsilon is stated: %1 is 0. A resume may set it.</source>
        <translation>No se indica ningún épsilon: %1 es 0. Al reanudar se puede fijar.</translation>
    </message>
    <message>
        <source>What else a run shows: losses, norms, samples that stand out, texts. No noise hides them. The guarantee is one of the weights.</source>
        <translation>Lo demás que muestra una ejecución: pérdidas, normas, muestras que destacan, textos. Ningún ruido los oculta. La garantía es de los pesos.</translation>
    </message>
    <message>
        <source>The held-out text, which is not trained: evaluations show it, and so does who stops or chooses weights by them.</source>
        <translation>El texto reservado, que no se entrena: las evaluaciones lo muestran, y también quien, guiándose por ellas, detiene el entrenamiento o elige pesos.</translation>
    </message>
    <message>
        <source>What the data decided before training: a tokenizer made from it, which rows were filtered, left out as repeats or held out, and how many there are.</source>
        <translation>Lo que los datos decidieron antes de entrenar: un tokenizador hecho con ellos, qué filas se filtraron, se omitieron por repetidas o se reservaron, y cuántas hay.</translation>
    </message>
    <message>
        <source>Who is behind a unit: rows that tell of one person are so many units.</source>
        <translation>Quién está detrás de una unidad: las filas que hablan de una persona son otras tantas unidades.</translation>
    </message>
    <message>
        <source>Who knows the seed: the noise follows from it (%1, kept in run.json), by a generator that is not one of cryptography. Give away weights, not the run, and keep the seed.</source>
        <translation>Quien conoce la semilla: el ruido se deriva de ella (%1, guardada en run.json), con un generador que no es criptográfico. Entregue los pesos, no la ejecución, y guárdese la semilla.</translation>
    </message>
    <message>
        <source>The rounding of numbers: noise of float32 is not quite that of the theory.</source>
        <translation>El redondeo de los números: el ruido en float32 no es del todo el de la teoría.</translation>
    </message>
    <message>
        <source>What the weights were made from that the run began with (%1).</source>
        <translation>Con qué se hicieron los pesos de los que partió la ejecución (%1).</translation>
    </message>
    <message>
        <source>Epsilon is %1 at delta %2, for one unit that is left out.</source>
        <translation>Épsilon es %1 con delta %2, para una unidad que se omite.</translation>
    </message>
    <message>
        <source>Two runs are neighbours when they differ by one unit that counts as zero in every step. For one unit in place of another epsilon is %1.</source>
        <translation>Dos ejecuciones son vecinas cuando se diferencian en una unidad que cuenta como cero en cada paso. Si se cambia una unidad por otra, épsilon es %1.</translation>
    </message>
    <message>
        <source>Each step adds normal noise of %1 times the norm that the gradient of a unit may have (%2). Any unit took part %3 times at most, by the history of claims; no chance of taking part is assumed.</source>
        <translation>Cada paso añade ruido normal de %1 veces la norma que puede tener el gradiente de una unidad (%2). Cualquier unidad participó %3 veces como máximo, según el historial de reservas; no se supone ninguna probabilidad de participar.</translation>
    </message>
    <message>
        <source>That counts %1 trainings of chunks whose weights are lost, for somebody may have seen them. Of the surviving weights alone: %2 times at most, epsilon %3.</source>
        <translation>Eso cuenta %1 entrenamientos de fragmentos cuyos pesos se perdieron, pues alguien pudo verlos. Solo de los pesos que quedan: %2 veces como máximo, épsilon %3.</translation>
    </message>
    <message>
        <source>No epsilon is stated: the files are not what the ledger speaks of.</source>
        <translation>No se indica ningún épsilon: los archivos no son los que describe el registro.</translation>
    </message>
    <message>
        <source>epsilon allows no unit to take part once more</source>
        <translation>épsilon no permite que ninguna unidad participe otra vez</translation>
    </message>
    <message>
        <source>the gradient of each window alone is known of architecture gpt without experts only; allowed is 0</source>
        <translation>el gradiente de cada ventana por separado solo se conoce en la arquitectura gpt sin expertos; se permite 0</translation>
    </message>
    <message>
        <source>the gradients of %1 of the windows %2-%3 are not finite: they count as zero</source>
        <translation>los gradientes de %1 de las ventanas %2-%3 no son finitos: cuentan como cero</translation>
    </message>
    <message>
        <source>There is no %1 in the current folder. The run of that name is %2.</source>
        <translation>No hay ningún %1 en la carpeta actual. La ejecución de ese nombre es %2.</translation>
    </message>
    <message>
        <source>A copy in the cache is damaged and is made or fetched again (%1)</source>
        <translation>Una copia en la caché está dañada y se vuelve a crear o a descargar (%1)</translation>
    </message>
    <message>
        <source>The download %1 has other bytes than arrived (SHA-256).</source>
        <translation>La descarga %1 tiene bytes distintos de los que llegaron (SHA-256).</translation>
    </message>
    <message>
        <source>%1 does not hold what arrived of %2 (SHA-256).</source>
        <translation>%1 no contiene lo que llegó de %2 (SHA-256).</translation>
    </message>
    <message>
        <source>A fraction of %1 takes nothing of %2: it is drawn in whole stretches of the files, of which there are %3. Take a larger fraction, or max_samples.</source>
        <translation>Una fracción de %1 no toma nada de %2: se sortea en tramos enteros de los archivos, de los que hay %3. Tome una fracción mayor, o max_samples.</translation>
    </message>
    <message>
        <source>1 row of the evaluation text cannot be used and is not in it: %1.</source>
        <translation>1 fila del texto de evaluación no se puede usar y no está en él: %1.</translation>
    </message>
    <message>
        <source>%1 rows of the evaluation text cannot be used and are not in it; one of them: %2.</source>
        <translation>%1 filas del texto de evaluación no se pueden usar y no están en él; una de ellas: %2.</translation>
    </message>
    <message>
        <source>1 row of the evaluation text is filtered, as in training.</source>
        <translation>1 fila del texto de evaluación se filtra, como en el entrenamiento.</translation>
    </message>
    <message>
        <source>%1 rows of the evaluation text are filtered, as in training.</source>
        <translation>%1 filas del texto de evaluación se filtran, como en el entrenamiento.</translation>
    </message>
    <message>
        <source>%1: about %2 % of its rows are needed, and only the row groups with them are fetched, so what arrives cannot be compared with the SHA-256 that the hub promises.</source>
        <translation>%1: se necesita cerca del %2 % de sus filas y solo se descargan los grupos de filas que las contienen, así que lo que llega no se puede comparar con el SHA-256 que promete el hub.</translation>
    </message>
    <message>
        <source>%1: a fraction is drawn in whole stretches of the files (row groups of Parquet). Of the %2 that there are, those that come nearest to %3 % are %4 % of the data.</source>
        <translation>%1: una fracción se sortea en tramos enteros de los archivos (grupos de filas de Parquet). De los %2 que hay, los que más se acercan al %3 % son el %4 % de los datos.</translation>
    </message>
    <message>
        <source>The list of what is left out names chunk %1:%2, and the data has %3 blocks: this entry means nothing.</source>
        <translation>La lista de lo que se omite nombra el fragmento %1:%2, y los datos tienen %3 bloques: esta entrada no significa nada.</translation>
    </message>
    <message>
        <source>%1 is a link, and Furrow deletes nothing behind a link inside its cache. Remove the link.</source>
        <translation>%1 es un enlace, y Furrow no borra nada detrás de un enlace dentro de su caché. Quite el enlace.</translation>
    </message>
    <message>
        <source>The copy of %1 in the cache (%2) does not hold what is in the file. It is put aside and made again.</source>
        <translation>La copia de %1 en la caché (%2) no contiene lo que hay en el archivo. Se aparta y se crea de nuevo.</translation>
    </message>
    <message>
        <source>%1 does not hold what was written into it (XXH3)</source>
        <translation>%1 no contiene lo que se escribió en él (XXH3)</translation>
    </message>
    <message>
        <source>%1 ends too early</source>
        <translation>%1 termina demasiado pronto</translation>
    </message>
    <message>
        <source>%1 has bytes that are not UTF-8. They are read as U+FFFD; set encoding if the text has another one.</source>
        <translation>%1 tiene bytes que no son UTF-8. Se leen como U+FFFD; defina encoding si el texto tiene otra codificación.</translation>
    </message>
    <message>
        <source>The tokenizer has no token for these characters of the prompt: %1</source>
        <translation>El tokenizador no tiene ningún token para estos caracteres del texto inicial: %1</translation>
    </message>
    <message>
        <source>%1 does not hold the files of the model that this run began with (SHA-256). Put them back from a copy of the run.</source>
        <translation>%1 no contiene los archivos del modelo con los que empezó esta ejecución (SHA-256). Vuelva a ponerlos desde una copia de la ejecución.</translation>
    </message>
    <message>
        <source>%1 &apos;furrowctl eval&apos; evaluates the weights of a run that nobody trains.</source>
        <translation>%1 «furrowctl eval» evalúa los pesos de una ejecución que nadie entrena.</translation>
    </message>
    <message>
        <source>The limit of one epoch is reached: it is complete. The attempt would end at once; raise the limit, or turn on %1.</source>
        <translation>Se alcanzó el límite de una época: está completa. El intento terminaría de inmediato; suba el límite o active %1.</translation>
    </message>
    <message>
        <source>The limit of %1 epochs is reached: they are complete. The attempt would end at once; raise the limit, or turn on %2.</source>
        <translation>Se alcanzó el límite de %1 épocas: están completas. El intento terminaría de inmediato; suba el límite o active %2.</translation>
    </message>
    <message>
        <source>Nothing was started, and the epoch of %1 that is open stays as it is. %2</source>
        <translation>No se inició nada, y la época abierta de %1 queda como está. %2</translation>
    </message>
    <message>
        <source>Replicas with weights of their own: %1; from now on: %2. They are not merged (merge is none): those that are added start from the newest merge, or from what the run began with.</source>
        <translation>Réplicas con pesos propios: %1; a partir de ahora: %2. No se fusionan (merge es none): las que se añaden parten de la fusión más reciente o de aquello con lo que empezó la ejecución.</translation>
    </message>
    <message>
        <source>1 of them is left out whole, among the filtered ones: the cut takes all that would be learnt of it.</source>
        <translation>1 de ellas se omite entera y se cuenta entre las filtradas: el corte quita todo lo que se aprendería de ella.</translation>
    </message>
    <message>
        <source>%1 of them are left out whole, among the filtered ones: the cut takes all that would be learnt of them.</source>
        <translation>%1 de ellas se omiten enteras y se cuentan entre las filtradas: el corte quita todo lo que se aprendería de ellas.</translation>
    </message>
    <message>
        <source>1 text is not trained at all: its first row is left out, and the others are repeats of that row.</source>
        <translation>1 texto no se entrena en absoluto: su primera fila se omite y las demás son repeticiones de esa fila.</translation>
    </message>
    <message>
        <source>%1 texts are not trained at all: their first rows are left out, and the others are repeats of those rows.</source>
        <translation>%1 textos no se entrenan en absoluto: sus primeras filas se omiten y las demás son repeticiones de esas filas.</translation>
    </message>
    <message>
        <source>Attempt %1 began.</source>
        <translation>El intento %1 empezó.</translation>
    </message>
    <message>
        <source>The process that merged ended: %1</source>
        <translation>El proceso que fusionaba terminó: %1</translation>
    </message>
    <message>
        <source>Worker %1 ended: %2</source>
        <translation>El trabajador %1 terminó: %2</translation>
    </message>
    <message>
        <source>Worker %1 was started again.</source>
        <translation>El trabajador %1 se inició de nuevo.</translation>
    </message>
    <message>
        <source>Attempt %1 failed: %2</source>
        <translation>El intento %1 falló: %2</translation>
    </message>
    <message>
        <source>Attempt %1 was interrupted.</source>
        <translation>El intento %1 se interrumpió.</translation>
    </message>
    <message>
        <source>Attempt %1 ended: %2.</source>
        <translation>El intento %1 acabó: %2.</translation>
    </message>
    <message>
        <source>Attempt %1 finished: %2.</source>
        <translation>El intento %1 terminó: %2.</translation>
    </message>
    <message>
        <source>Put the source back as it was when the run was made, to the byte, then &apos;furrowctl chunks retry&apos; and resume; or go on without these rows by &apos;furrowctl chunks accept&apos; and resume. Mended data is other data and needs a new run.</source>
        <translation>Vuelva a poner la fuente tal como era cuando se creó la ejecución, byte por byte, luego «furrowctl chunks retry» y reanude; o siga sin estas filas con «furrowctl chunks accept» y reanude. Unos datos reparados son otros datos y necesitan una ejecución nueva.</translation>
    </message>
    <message>
        <source>the feeder ended: %1</source>
        <translation>el alimentador terminó: %1</translation>
    </message>
    <message>
        <source>the run waits for its data since %1: %2</source>
        <translation>la ejecución espera sus datos desde %1: %2</translation>
    </message>
    <message>
        <source>the run has its data again</source>
        <translation>la ejecución vuelve a tener sus datos</translation>
    </message>
    <message>
        <source>a person asked for a stop</source>
        <translation>una persona pidió parar</translation>
    </message>
    <message>
        <source>a person asked to kill the run</source>
        <translation>una persona pidió matar la ejecución</translation>
    </message>
    <message>
        <source>it is neither a tokenizer.json, a tiktoken file nor a sentencepiece model (%1)</source>
        <translation>no es un tokenizer.json, ni un archivo de tiktoken, ni un modelo de sentencepiece (%1)</translation>
    </message>
    <message>
        <source>is longer than 16 MiB</source>
        <translation>supera los 16 MiB</translation>
    </message>
    <message>
        <source>is broken JSON</source>
        <translation>es JSON incorrecto</translation>
    </message>
    <message>
        <source>is broken JSON: %1</source>
        <translation>es JSON incorrecto: %1</translation>
    </message>
    <message>
        <source>has a text column that is not a string</source>
        <translation>tiene una columna de texto que no es una cadena</translation>
    </message>
    <message>
        <source>has fewer columns than the header</source>
        <translation>tiene menos columnas que la cabecera</translation>
    </message>
    <message>
        <source>has more fields than there are columns</source>
        <translation>tiene más campos que columnas hay</translation>
    </message>
    <message>
        <source>has no file of that ending</source>
        <translation>no tiene ningún archivo con esa extensión</translation>
    </message>
    <message>
        <source>has two files of one ending</source>
        <translation>tiene dos archivos con la misma extensión</translation>
    </message>
    <message>
        <source>is packed as its server sent it</source>
        <translation>está comprimida tal como la envió su servidor</translation>
    </message>
    <message>
        <source>becomes no token: the tokenizer keeps nothing of its text</source>
        <translation>no da ningún token: el tokenizador no conserva nada de su texto</translation>
    </message>
    <message>
        <source>is a conversation, and the data set has no chat template</source>
        <translation>es una conversación, y el conjunto de datos no tiene plantilla de chat</translation>
    </message>
    <message>
        <source>has a turn of the assistant without a token</source>
        <translation>tiene un turno del asistente sin ningún token</translation>
    </message>
    <message>
        <source>is not a conversation</source>
        <translation>no es una conversación</translation>
    </message>
    <message>
        <source>has no messages in %1</source>
        <translation>no tiene mensajes en %1</translation>
    </message>
    <message>
        <source>has no turn of the assistant</source>
        <translation>no tiene ningún turno del asistente</translation>
    </message>
    <message>
        <source>is larger than a conversation may be</source>
        <translation>es mayor de lo que puede ser una conversación</translation>
    </message>
    <message>
        <source>has tools that are not a list</source>
        <translation>tiene herramientas que no son una lista</translation>
    </message>
    <message>
        <source>has no %1</source>
        <translation>no tiene %1</translation>
    </message>
    <message>
        <source>has a message %1 that is not an object</source>
        <translation>tiene un mensaje %1 que no es un objeto</translation>
    </message>
    <message>
        <source>has a message %1 that cannot be written as JSON</source>
        <translation>tiene un mensaje %1 que no se puede escribir como JSON</translation>
    </message>
    <message>
        <source>has a message %1 of the assistant without text</source>
        <translation>tiene un mensaje %1 del asistente sin texto</translation>
    </message>
    <message>
        <source>has a message %1 without a role</source>
        <translation>tiene un mensaje %1 sin rol</translation>
    </message>
    <message>
        <source>has a message %1 of the unknown role &apos;%2&apos;</source>
        <translation>tiene un mensaje %1 con el rol desconocido «%2»</translation>
    </message>
    <message>
        <source>has a message %1 without content</source>
        <translation>tiene un mensaje %1 sin contenido</translation>
    </message>
    <message>
        <source>has a message %1 whose content is not text</source>
        <translation>tiene un mensaje %1 cuyo contenido no es texto</translation>
    </message>
    <message>
        <source>has a message %1 with a part that is not text</source>
        <translation>tiene un mensaje %1 con una parte que no es texto</translation>
    </message>
    <message>
        <source>none</source>
        <translation>ninguno</translation>
    </message>
    <message>
        <source>comma</source>
        <translation>coma</translation>
    </message>
    <message>
        <source>semicolon</source>
        <translation>punto y coma</translation>
    </message>
    <message>
        <source>tab</source>
        <translation>tabulador</translation>
    </message>
    <message>
        <source>pipe</source>
        <translation>barra vertical</translation>
    </message>
    <message>
        <source>space</source>
        <translation>espacio</translation>
    </message>
    <message>
        <source>%1 is not an address that data can be read from.</source>
        <translation>%1 no es una dirección a la que se puedan pedir datos.</translation>
    </message>
    <message>
        <source>an Excel spreadsheet</source>
        <translation>una hoja de cálculo de Excel</translation>
    </message>
    <message>
        <source>a PowerPoint presentation</source>
        <translation>una presentación de PowerPoint</translation>
    </message>
    <message>
        <source>a Word document</source>
        <translation>un archivo de Word</translation>
    </message>
    <message>
        <source>an Office document</source>
        <translation>un archivo de Office</translation>
    </message>
    <message>
        <source>an EPUB book</source>
        <translation>un libro EPUB</translation>
    </message>
    <message>
        <source>an OpenDocument spreadsheet</source>
        <translation>una hoja de cálculo OpenDocument</translation>
    </message>
    <message>
        <source>an OpenDocument document</source>
        <translation>un archivo OpenDocument</translation>
    </message>
    <message>
        <source>none at all</source>
        <translation>ninguna</translation>
    </message>
    <message>
        <source>a PNG picture</source>
        <translation>una imagen PNG</translation>
    </message>
    <message>
        <source>a PDF document</source>
        <translation>un archivo PDF</translation>
    </message>
    <message>
        <source>a zip archive</source>
        <translation>un archivo comprimido zip</translation>
    </message>
    <message>
        <source>a program</source>
        <translation>un programa</translation>
    </message>
    <message>
        <source>a JPEG picture</source>
        <translation>una imagen JPEG</translation>
    </message>
    <message>
        <source>a GIF picture</source>
        <translation>una imagen GIF</translation>
    </message>
    <message>
        <source>a sound, film or picture</source>
        <translation>un sonido, una película o una imagen</translation>
    </message>
    <message>
        <source>an SQLite database</source>
        <translation>una base de datos SQLite</translation>
    </message>
    <message>
        <source>a document of an older Office</source>
        <translation>un archivo de un Office antiguo</translation>
    </message>
    <message>
        <source>an RTF document</source>
        <translation>un archivo RTF</translation>
    </message>
    <message>
        <source>a Parquet file</source>
        <translation>un archivo Parquet</translation>
    </message>
    <message>
        <source>an encrypted Parquet file</source>
        <translation>un archivo Parquet cifrado</translation>
    </message>
    <message>
        <source>an Arrow file</source>
        <translation>un archivo Arrow</translation>
    </message>
    <message>
        <source>a Feather file</source>
        <translation>un archivo Feather</translation>
    </message>
    <message>
        <source>an Arrow stream</source>
        <translation>un flujo de Arrow</translation>
    </message>
    <message>
        <source>an ORC file</source>
        <translation>un archivo ORC</translation>
    </message>
    <message>
        <source>an Avro file</source>
        <translation>un archivo Avro</translation>
    </message>
    <message>
        <source>an HDF5 file</source>
        <translation>un archivo HDF5</translation>
    </message>
    <message>
        <source>a NumPy array</source>
        <translation>una matriz de NumPy</translation>
    </message>
    <message>
        <source>a GGUF model</source>
        <translation>un modelo GGUF</translation>
    </message>
    <message>
        <source>an xz archive</source>
        <translation>un archivo comprimido xz</translation>
    </message>
    <message>
        <source>a bzip2 archive</source>
        <translation>un archivo comprimido bzip2</translation>
    </message>
    <message>
        <source>a 7z archive</source>
        <translation>un archivo comprimido 7z</translation>
    </message>
    <message>
        <source>a rar archive</source>
        <translation>un archivo comprimido rar</translation>
    </message>
    <message>
        <source>an lz4 archive</source>
        <translation>un archivo comprimido lz4</translation>
    </message>
    <message>
        <source>a snappy archive</source>
        <translation>un archivo comprimido snappy</translation>
    </message>
    <message>
        <source>a pickle file</source>
        <translation>un archivo pickle</translation>
    </message>
    <message>
        <source>a tar archive</source>
        <translation>un archivo comprimido tar</translation>
    </message>
    <message>
        <source>Worker %1 made no progress since %2.</source>
        <translation>El trabajador %1 no avanza desde %2.</translation>
    </message>
    <message>
        <source>worker %1 goes on</source>
        <translation>el trabajador %1 continúa</translation>
    </message>
    <message>
        <source>Only %1 is free on the disk of this run; checkpoints need room.</source>
        <translation>Solo quedan %1 libres en el disco de esta ejecución; los puntos de control necesitan espacio.</translation>
    </message>
    <message>
        <source>the disk of the run has room again</source>
        <translation>el disco de la ejecución vuelve a tener espacio</translation>
    </message>
    <message>
        <source>the checkpoints are back</source>
        <translation>los puntos de control están de vuelta</translation>
    </message>
    <message>
        <source>%1 and %2 were not trained on the same texts. %3: %4</source>
        <translation>%1 y %2 no se entrenaron con los mismos textos. %3: %4</translation>
    </message>
    <message>
        <source>furrowctl inspect needs chunk: BLOCK:CHUNK, both from 0; or --unreadable.</source>
        <translation>furrowctl inspect necesita chunk: BLOQUE:FRAGMENTO, ambos desde 0; o --unreadable.</translation>
    </message>
    <message>
        <source>%1 is not a folder; move it away or choose another place</source>
        <translation>%1 no es una carpeta; apártelo o elija otro lugar</translation>
    </message>
    <message>
        <source>the system has too many open files; end some programs</source>
        <translation>el sistema tiene demasiados archivos abiertos; cierre algunos programas</translation>
    </message>
    <message>
        <source>%1 is not a folder, and a run keeps a folder there. Move away what has its name; nothing was changed.</source>
        <translation>%1 no es una carpeta, y una ejecución guarda ahí una carpeta. Aparte lo que lleva ese nombre; no se cambió nada.</translation>
    </message>
    <message>
        <source>%1 is not there. It was made with the run and there is no other: put it back from a copy of the run.</source>
        <translation>Falta %1. Se creó con la ejecución y no hay otro: restáurelo desde una copia de la ejecución.</translation>
    </message>
    <message>
        <source>%1 of the %2 samples of block %3 have bytes that are not UTF-8, as which %4 is read: they are not trained as they are meant. By these bytes it is likely %5 there; if so, stop, and begin a new run with that encoding (%6).</source>
        <translation>%1 de las %2 muestras del bloque %3 tienen bytes que no son UTF-8, que es como se lee %4: no se entrenan como deberían. Según esos bytes, allí es probablemente %5; si es así, detenga la ejecución y empiece otra con esa codificación (%6).</translation>
    </message>
    <message>
        <source>downloading %1: %2, no byte for %3 s</source>
        <translation>descargando %1: %2, sin un byte desde hace %3 s</translation>
    </message>
    <message>
        <source>downloading %1: %2 of %3, no byte for %4 s</source>
        <translation>descargando %1: %2 de %3, sin un byte desde hace %4 s</translation>
    </message>
    <message>
        <source>%1 has no columns: it holds no rows, or only blank ones.</source>
        <translation>%1 no tiene columnas: no contiene filas, o solo filas en blanco.</translation>
    </message>
    <message>
        <source>it is neither a tokenizer.json, a tiktoken file nor a sentencepiece model</source>
        <translation>no es un tokenizer.json, ni un archivo tiktoken, ni un modelo sentencepiece</translation>
    </message>
    <message>
        <source>weights and optimiser state of %1 older checkpoints: --deep reads them too</source>
        <translation>pesos y estado del optimizador de %1 puntos de control anteriores: --deep también los lee</translation>
    </message>
    <message>
        <source>SHA-256 of %1 files (%2) of %3 checkpoints: the newest of each replica, and those that a resume takes moments of the optimiser or the outer state of DiLoCo from</source>
        <translation>SHA-256 de %1 archivos (%2) de %3 puntos de control: el más reciente de cada réplica, y aquellos de los que una reanudación toma momentos del optimizador o el estado externo de DiLoCo</translation>
    </message>
    <message>
        <source>For comparison with other programs only: had each of %1 steps drawn its units by chance (Poisson, %2 % each), epsilon would be %3. Steps here take units in turn, so that does not hold.</source>
        <translation>Solo para comparar con otros programas: si cada uno de %1 pasos hubiera sorteado sus unidades (Poisson, %2 % cada una), épsilon sería %3. Aquí los pasos toman las unidades por turno, así que eso no vale.</translation>
    </message>
    <message>
        <source>Replica %1, which stands on a merge, takes the moments of its optimiser from there: without it they are those of an older checkpoint, or start afresh.</source>
        <translation>La réplica %1, que parte de una fusión, toma de ahí los momentos de su optimizador: sin él son los de un punto de control anterior, o empiezan de cero.</translation>
    </message>
    <message>
        <source>The replicas grew from it: without it their next merge is a plain average, and the outer state of DiLoCo starts afresh.</source>
        <translation>Las réplicas proceden de él: sin él, su próxima fusión es un simple promedio, y el estado externo de DiLoCo empieza de cero.</translation>
    </message>
    <message>
        <source>Put a whole copy back and resume; or &apos;furrowctl resume %1 --accept-loss&apos; goes on without it. No weights are given up and nothing is trained again.</source>
        <translation>Restaure una copia íntegra y reanude; o «furrowctl resume %1 --accept-loss» continúa sin ese punto de control. No se abandona ningún peso y nada se entrena de nuevo.</translation>
    </message>
    <message>
        <source>Bring the file or its disk back and resume; or &apos;furrowctl resume %1 --accept-loss&apos; goes on without it. No weights are given up and nothing is trained again.</source>
        <translation>Recupere el archivo o su disco y reanude; o «furrowctl resume %1 --accept-loss» continúa sin él. No se abandona ningún peso y nada se entrena de nuevo.</translation>
    </message>
    <message>
        <source>%1 cannot be read: %2</source>
        <translation>No se puede leer %1: %2</translation>
    </message>
    <message>
        <source>%1 has no weights.</source>
        <translation>%1 no tiene pesos.</translation>
    </message>
    <message>
        <source>%1: %2 holds other weights than when the run was made (SHA-256). Put those back, or start a new run from these.</source>
        <translation>%1: %2 contiene pesos distintos de los que había cuando se creó la ejecución (SHA-256). Restaure aquellos, o empiece una ejecución nueva con estos.</translation>
    </message>
    <message>
        <source>An epoch trains %1 tokens.</source>
        <translation>Una época entrena %1 tokens.</translation>
    </message>
    <message>
        <source>An epoch trains about %1 tokens, judged from what was looked at.</source>
        <translation>Una época entrena unos %1 tokens, a juzgar por lo que se ha mirado.</translation>
    </message>
    <message>
        <source>%1 So the supervisor, process %2, was asked by a signal. It ends when its workers have saved, which they can as soon as the tracker is free; what they cannot save within ten minutes is trained again after a resume.</source>
        <translation>%1 Por eso se le pidió al supervisor, el proceso %2, con una señal. Termina cuando sus trabajadores han guardado, lo que pueden hacer en cuanto el registro esté libre; lo que no pueden guardar en diez minutos se entrena de nuevo al reanudar.</translation>
    </message>
    <message>
        <source>%1 So the supervisor, process %2, was asked by a signal. It ends when its workers have saved; what they cannot save within a minute is trained again after a resume.</source>
        <translation>%1 Por eso se le pidió al supervisor, el proceso %2, con una señal. Termina cuando sus trabajadores han guardado; lo que no pueden guardar en un minuto se entrena de nuevo al reanudar.</translation>
    </message>
    <message>
        <source>Epsilon may be %1 at most, and %2 is spent: no unit may take part once more. The attempt would end at once; raise %3, or write 0 for no limit.</source>
        <translation>Épsilon puede ser %1 como máximo, y se ha gastado %2: ninguna unidad puede participar otra vez. El intento terminaría enseguida; suba %3, o escriba 0 para no poner límite.</translation>
    </message>
    <message>
        <source>Private training: no unit has taken part in a step yet.</source>
        <translation>Entrenamiento privado: ninguna unidad ha participado todavía en un paso.</translation>
    </message>
    <message>
        <source>Private training: participations of any unit: %1 at most. No epsilon is said: %2 is 0.</source>
        <translation>Entrenamiento privado: participaciones de cualquier unidad: %1 como máximo. No se indica ningún épsilon: %2 es 0.</translation>
    </message>
    <message>
        <source>Private training: epsilon is %1 at most, at delta %2; participations of any unit: %3 at most.</source>
        <translation>Entrenamiento privado: épsilon es %1 como máximo, con delta %2; participaciones de cualquier unidad: %3 como máximo.</translation>
    </message>
    <message>
        <source>Private training: epsilon is %1 at most, of %2, at delta %3; participations of any unit: %4 at most, of %5.</source>
        <translation>Entrenamiento privado: épsilon es %1 como máximo, de %2, con delta %3; participaciones de cualquier unidad: %4 como máximo, de %5.</translation>
    </message>
    <message>
        <source>1 row is left out by name (exclude), among the filtered ones.</source>
        <translation>1 fila se omite por su nombre (exclude); se cuenta entre las filtradas.</translation>
    </message>
    <message>
        <source>%1 rows are left out by name (exclude), among the filtered ones.</source>
        <translation>%1 filas se omiten por su nombre (exclude); se cuentan entre las filtradas.</translation>
    </message>
    <message>
        <source>The entry &apos;%1&apos; of what is left out (exclude) means nothing: there is no such chunk.</source>
        <translation>La entrada «%1» de lo que se omite (exclude) no significa nada: no existe ese fragmento.</translation>
    </message>
    <message>
        <source>The entry &apos;%1&apos; of what is left out (exclude) met no row.</source>
        <translation>La entrada «%1» de lo que se omite (exclude) no coincidió con ninguna fila.</translation>
    </message>
    <message>
        <source>1 more entry of what is left out met nothing.</source>
        <translation>1 entrada más de lo que se omite no coincidió con nada.</translation>
    </message>
    <message>
        <source>%1 more entries of what is left out met nothing.</source>
        <translation>%1 entradas más de lo que se omite no coincidieron con nada.</translation>
    </message>
    <message>
        <source>reading which rows make block %1</source>
        <translation>leyendo qué filas forman el bloque %1</translation>
    </message>
    <message>
        <source>block %1 cannot be prepared: %2</source>
        <translation>el bloque %1 no se puede preparar: %2</translation>
    </message>
    <message>
        <source>%1 of the %2 rows read so far cannot be read: %3 %, and the limit is %4 %. The first: %5. Mend the data and begin a new run, or resume with a higher limit (%6).</source>
        <translation>%1 de las %2 filas leídas hasta ahora no se pueden leer: %3 %, y el límite es %4 %. La primera: %5. Repare los datos y empiece una ejecución nueva, o reanude con un límite mayor (%6).</translation>
    </message>
    <message>
        <source>no byte of %1 comes, %2 are here</source>
        <translation>no llega ningún byte de %1, hay %2</translation>
    </message>
    <message>
        <source>no byte of %1 comes, %2 of %3 are here</source>
        <translation>no llega ningún byte de %1, hay %2 de %3</translation>
    </message>
    <message>
        <source>The supervisor was asked to end (SIGTERM): shut-down, log-out, or a stop that the tracker could not take.</source>
        <translation>Se pidió al supervisor que terminara (SIGTERM): apagado, cierre de sesión o una parada que el registro no pudo anotar.</translation>
    </message>
    <message>
        <source>some unit of the data takes part %1 times from here on</source>
        <translation>desde aquí alguna unidad de los datos participa %1 veces</translation>
    </message>
    <message>
        <source>epoch %1 is complete</source>
        <translation>la época %1 está completa</translation>
    </message>
    <message>
        <source>Checkpoint %1 is damaged: SHA-256 of %2 differs. Name another one, or put its files back from a copy.</source>
        <translation>El punto de control %1 está dañado: el SHA-256 de %2 es distinto. Indique otro, o restaure sus archivos desde una copia.</translation>
    </message>
    <message>
        <source>The moments of the optimiser of replica %1 are those of checkpoint %2: newer ones cannot be used.</source>
        <translation>Los momentos del optimizador de la réplica %1 son los del punto de control %2: los más recientes no se pueden usar.</translation>
    </message>
    <message>
        <source>%1 stores rows in blocks of %2 numbers, and no matrix of this model has such rows (width %3): all would be f16. Export with --type f16, bf16 or f32.</source>
        <translation>%1 guarda filas en bloques de %2 números, y ninguna matriz de este modelo tiene filas así (ancho %3): todo quedaría en f16. Exporte con --type f16, bf16 o f32.</translation>
    </message>
    <message>
        <source>You cannot run this queue, and nobody is seen to run it: %1</source>
        <translation>No puede ejecutar esta cola, y no se ve que nadie la ejecute: %1</translation>
    </message>
    <message>
        <source>%1 waits in the queue. Take it out first (&apos;furrowctl queue remove %2&apos;).</source>
        <translation>%1 espera en la cola. Sáquela primero («furrowctl queue remove %2»).</translation>
    </message>
    <message>
        <source>%1 is in the data twice: its rows are trained once, as repeats are left out.</source>
        <translation>%1 está dos veces en los datos: sus filas se entrenan una vez, pues las repeticiones se omiten.</translation>
    </message>
    <message>
        <source>%1 has the content of %2: its rows are trained once, as repeats are left out.</source>
        <translation>%1 tiene el contenido de %2: sus filas se entrenan una vez, pues las repeticiones se omiten.</translation>
    </message>
    <message>
        <source>This run trains with noise. A tracker made anew, or taken forward, does not know every training that was lost before: no epsilon can be stated of the run any more, and no limit of epsilon be kept. A copy of the tracker that is whole and as new as the weights, put back in its place, keeps both.</source>
        <translation>Esta ejecución se entrena con ruido. Un registro hecho de nuevo, o actualizado, no conoce todo lo que se entrenó y se perdió antes: ya no se puede afirmar ningún épsilon de la ejecución ni cumplir un límite de épsilon. Una copia íntegra del registro, tan nueva como los pesos y puesta en su lugar, conserva ambas cosas.</translation>
    </message>
    <message>
        <source>%1 belongs to run %2, and by run.json this is run %3: it proves nothing about this one.</source>
        <translation>%1 pertenece a la ejecución %2, y según run.json esta es la ejecución %3: no prueba nada sobre esta.</translation>
    </message>
    <message>
        <source>%1 Put the right one back; or &apos;furrowctl doctor %2 --repair&apos; sets this one aside and goes by what this run has of its own.</source>
        <translation>%1 Restaure el correcto; o «furrowctl doctor %2 --repair» aparta este y se guía por lo que esta ejecución tiene de propio.</translation>
    </message>
    <message>
        <source>%1 It is kept as %2.</source>
        <translation>%1 Se conserva como %2.</translation>
    </message>
    <message>
        <source>%1 So no rule can end the run before a unit takes part once too often, and nothing was started. Write 0 for %2 to go on without that limit.</source>
        <translation>%1 Por eso ninguna regla puede terminar la ejecución antes de que una unidad participe una vez de más, y no se ha iniciado nada. Escriba 0 en %2 para continuar sin ese límite.</translation>
    </message>
    <message>
        <source>No epsilon is stated: the tracker was made anew or went on from an older copy, and the trainings that were lost before that are not in it.</source>
        <translation>No se indica ningún épsilon: el registro se rehízo o continuó desde una copia anterior, y los entrenamientos perdidos antes no están en él.</translation>
    </message>
    <message>
        <source>No epsilon is stated: the tracker cannot be read, and its snapshot may be older.</source>
        <translation>No se indica ningún épsilon: el registro no se puede leer y su instantánea puede ser anterior.</translation>
    </message>
    <message>
        <source>its checkpoints cannot be written</source>
        <translation>sus puntos de control no se pueden escribir</translation>
    </message>
    <message>
        <source>%1: claim %2 was begun and does not say when: its row was changed</source>
        <translation>%1: la reserva %2 se empezó y no dice cuándo: su fila se modificó</translation>
    </message>
    <message>
        <source>%1 is marked as %2, and no event says so: its row was changed from outside</source>
        <translation>%1 está marcado como %2, y ningún suceso lo dice: su fila se modificó desde fuera</translation>
    </message>
    <message>
        <source>%1: claim %2 ended otherwise by its row than by the events: its row was changed</source>
        <translation>%1: según su fila, la reserva %2 terminó de forma distinta a la que indican los sucesos: su fila se modificó</translation>
    </message>
    <message>
        <source>%1: claim %2 was trained, and no checkpoint has a part of it: a row was changed or taken out</source>
        <translation>%1: la reserva %2 se entrenó, y ningún punto de control tiene una parte de ella: se modificó o eliminó una fila</translation>
    </message>
    <message>
        <source>Worker %1 cannot save what it trains, and tries again: %2</source>
        <translation>El trabajador %1 no puede guardar lo que entrena y lo vuelve a intentar: %2</translation>
    </message>
    <message>
        <source>worker %1 has saved what it trained</source>
        <translation>el trabajador %1 ha guardado lo que entrenó</translation>
    </message>
    <message>
        <source>%1 is locked by another process for too long; let it go on or end it, then try again</source>
        <translation>%1 lleva demasiado tiempo bloqueado por otro proceso; deje que siga o termínelo, y vuelva a intentarlo</translation>
    </message>
    <message>
        <source>%1 is one JSON document, and its texts stand in a list of it. Name them with text_column, and each element of the list is a row (%2); or write one object per line (jsonl), and each is a row.</source>
        <translation>%1 es un solo documento JSON y sus textos están en una lista de él. Nómbrelos con text_column y cada elemento de la lista será una fila (%2); o escriba un objeto por línea (jsonl) y cada uno será una fila.</translation>
    </message>
    <message>
        <source>%1 has several JSON objects on its first line. Write one object per line.</source>
        <translation>%1 tiene varios objetos JSON en su primera línea. Escriba un objeto por línea.</translation>
    </message>
    <message>
        <source>%1 more blocks are not inspected: their source cannot be reached now</source>
        <translation>%1 bloques más no se inspeccionaron: ahora no se puede acceder a su fuente</translation>
    </message>
    <message>
        <source>%1; of %2 files from elsewhere %3 have the SHA-256 that is promised of them, what was read of the others is what their server sends now</source>
        <translation>%1; de %2 archivos de otro lugar, %3 tienen el SHA-256 prometido; lo leído de los demás es lo que su servidor envía ahora</translation>
    </message>
    <message>
        <source>not one block could be prepared once more</source>
        <translation>ningún bloque pudo prepararse de nuevo</translation>
    </message>
    <message>
        <source>the tracker %1 is not in WAL mode: it is a copy, not a live tracker; `furrowctl doctor %2 --repair` puts it into WAL mode and changes nothing else</source>
        <translation>el registro %1 no está en modo WAL: es una copia, no un registro vivo; `furrowctl doctor %2 --repair` lo pone en modo WAL y no cambia nada más</translation>
    </message>
    <message>
        <source>left out by hand</source>
        <translation>excluido a mano</translation>
    </message>
    <message>
        <source>The tracker %1 is older than its own snapshot %2: it ends with attempt %3, the snapshot with attempt %4. What was trained and lost in between is not in it.</source>
        <translation>El registro %1 es más antiguo que su propia copia %2: termina con el intento %3, la copia con el intento %4. Lo que se entrenó y se perdió entre ambos no consta en él.</translation>
    </message>
    <message>
        <source>The tracker %1 is older than its own snapshot %2: by it a unit took part %3 times at most, by the snapshot %4 times. What was trained and lost in between is not in it.</source>
        <translation>El registro %1 es más antiguo que su propia copia %2: según él, una unidad participó %3 veces como máximo; según la copia, %4 veces. Lo que se entrenó y se perdió entre ambos no consta en él.</translation>
    </message>
    <message>
        <source>Nobody could write to the tracker for %1: %2 The run goes on by itself once it can be written.</source>
        <translation>Nadie pudo escribir en el registro durante %1: %2 La ejecución continúa por sí sola en cuanto se pueda escribir.</translation>
    </message>
    <message>
        <source>its supervisor writes nothing</source>
        <translation>su supervisor no escribe nada</translation>
    </message>
    <message>
        <source>The supervisor has written nothing to the tracker for %1, though it lives and nobody has locked it: the disk of %2 takes nothing, or answers no more. Look at the disk; the run goes on by itself once it can be written.</source>
        <translation>El supervisor no ha escrito nada en el registro durante %1, aunque está vivo y nadie lo ha bloqueado: el disco de %2 no admite nada o ya no responde. Compruebe el disco; la ejecución continúa por sí sola en cuanto se pueda escribir.</translation>
    </message>
    <message>
        <source>No epsilon is stated:</source>
        <translation>No se indica ningún épsilon:</translation>
    </message>
    <message>
        <source>The run is being stopped. When it has ended, &apos;furrowctl resume&apos; goes on with it.</source>
        <translation>La ejecución se está deteniendo. Cuando haya terminado, «furrowctl resume» la continúa.</translation>
    </message>
    <message>
        <source>The run is being killed. When it has ended, &apos;furrowctl resume&apos; goes on with it.</source>
        <translation>Se está forzando el cierre de la ejecución. Cuando haya terminado, «furrowctl resume» la continúa.</translation>
    </message>
    <message>
        <source>An invented run needs 1 to 1024 workers, 1 to 1000 attempts and a step for each worker.</source>
        <translation>Una ejecución inventada necesita de 1 a 1024 trabajadores, de 1 a 1000 intentos y un paso por trabajador.</translation>
    </message>
    <message>
        <source>the machine was restarted</source>
        <translation>se reinició el equipo</translation>
    </message>
    <message>
        <source>a person stopped the run</source>
        <translation>una persona detuvo la ejecución</translation>
    </message>
    <message>
        <source>invented by furrow --synthetic: no model was trained</source>
        <translation>inventada por furrow --synthetic: no se entrenó ningún modelo</translation>
    </message>
    <message>
        <source>%1 cannot be written: check space and permissions</source>
        <translation>no se puede escribir %1: compruebe el espacio y los permisos</translation>
    </message>
    <message>
        <source>The cache %1 belongs to %2, who alone can verify or trim it. `furrowctl cache list` shows what is in it.</source>
        <translation>La caché %1 pertenece a %2; solo su propietario puede comprobarla o reducirla. `furrowctl cache list` muestra lo que contiene.</translation>
    </message>
    <message>
        <source>The tracker %1 is older than what lies in %2: it ends with attempt %3, and there are files of attempt %4. What was trained and lost in between is not in it.</source>
        <translation>El registro %1 es más antiguo que lo que hay en %2: termina con el intento %3 y hay archivos del intento %4. Lo que se entrenó y se perdió entre ambos no consta en él.</translation>
    </message>
    <message>
        <source>A person asked for a pause: the workers train on to the end of their chunks. Continue (`furrowctl continue`) takes it back.</source>
        <translation>Una persona pidió una pausa: los trabajadores siguen entrenando hasta el final de sus fragmentos. Continuar (`furrowctl continue`) la anula.</translation>
    </message>
    <message>
        <source>1 block, %1</source>
        <translation>1 bloque, %1</translation>
    </message>
    <message>
        <source>an older tracker was put back: only files of this attempt are left</source>
        <translation>se puso de nuevo un registro más antiguo: de este intento solo quedan archivos</translation>
    </message>
    <message>
        <source>No process runs the queue. &apos;furrowctl queue start&apos; starts one.</source>
        <translation>Ningún proceso ejecuta la cola. «furrowctl queue start» inicia uno.</translation>
    </message>
    <message>
        <source>The tracker %1 is older than what lies in %2: a person left %3 out there, and it does not know of that.</source>
        <translation>El registro %1 es más antiguo que lo que hay en %2: allí consta que una persona excluyó %3, y el registro no lo sabe.</translation>
    </message>
    <message>
        <source>Nothing of the queue is started: %1 holds %2 and is not a program of Furrow. End it, or wait until it lets go.</source>
        <translation>No se inicia nada de la cola: %1 tiene bloqueado %2 y no es un programa de Furrow. Termínelo, o espere a que lo suelte.</translation>
    </message>
    <message>
        <source>Nothing of the queue is started: %1 runs it. Let it go on, or end it and start the queue again.</source>
        <translation>No se inicia nada de la cola: la ejecuta %1. Deje que siga, o termínelo e inicie la cola de nuevo.</translation>
    </message>
    <message>
        <source>%1: what it had from row %2 on came into no block, so nobody knows how many rows that were.</source>
        <translation>%1: lo que tenía a partir de la fila %2 no llegó a ningún bloque, así que nadie sabe cuántas filas eran.</translation>
    </message>
    <message>
        <source>%1 is in the data twice, by %2 and by %3: each of its rows would take part twice in an epoch, and private training would state half of that. Name it once, or train the first of equal texts alone (%4).</source>
        <translation>%1 está dos veces en los datos, por %2 y por %3: cada una de sus filas participaría dos veces en una época, y el entrenamiento privado declararía la mitad. Nómbrelo una sola vez, o entrene solo el primero de los textos iguales (%4).</translation>
    </message>
    <message>
        <source>%1 has the content of %2: each of its rows would take part twice in an epoch, and private training would state half of that. Leave one of them out, or train the first of equal texts alone (%3).</source>
        <translation>%1 tiene el contenido de %2: cada una de sus filas participaría dos veces en una época, y el entrenamiento privado declararía la mitad. Quite uno de los dos, o entrene solo el primero de los textos iguales (%3).</translation>
    </message>
    <message>
        <source>%1 is again as it was when the run was made. Epochs that open from now on train it, but for rows that never came into a block or were taken out of one.</source>
        <translation>%1 vuelve a ser como era cuando se creó la ejecución. Las épocas que se abran a partir de ahora lo entrenan, salvo las filas que nunca llegaron a un bloque o que se quitaron de uno.</translation>
    </message>
    <message>
        <source>merged 1 replica into %1</source>
        <translation>1 réplica fusionada en %1</translation>
    </message>
    <message>
        <source>The moments of the optimiser of replica %1 are those of checkpoint %2, of replica %3: its own are gone.</source>
        <translation>Los momentos del optimizador de la réplica %1 son los del punto de control %2, de la réplica %3: los suyos ya no existen.</translation>
    </message>
    <message>
        <source>The checkpoints in %1 are of two lines: the tracker knows one of them, and newer ones do not grow from its newest weights, as after a resume --from-checkpoint: %2. Nothing was changed. Put the newer tracker back if you have it; &apos;furrowctl doctor %3 --repair --accept-loss&apos; goes on from what this one knows and moves the others to checkpoints/unknown.</source>
        <translation>Los puntos de control en %1 son de dos líneas: el registro conoce una de ellas, y otros posteriores no parten de sus pesos más recientes, como tras un resume --from-checkpoint: %2. No se cambió nada. Ponga de nuevo el registro más reciente si lo tiene; «furrowctl doctor %3 --repair --accept-loss» continúa desde lo que este conoce y mueve los demás a checkpoints/unknown.</translation>
    </message>
    <message>
        <source>left out with its file: %1</source>
        <translation>excluido con su archivo: %1</translation>
    </message>
    <message>
        <source>asked to stop before all ranks had come</source>
        <translation>se pidió parar antes de que hubieran llegado todos los rangos</translation>
    </message>
    <message>
        <source>a rank came to the meeting and has left it. All ranks end and start again together.</source>
        <translation>un rango llegó al encuentro y lo dejó. Todos los rangos terminan y vuelven a empezar juntos.</translation>
    </message>
    <message>
        <source>%1 chunks that a person had left out would be trained; they are left out again.</source>
        <translation>%1 fragmentos que una persona había excluido se entrenarían; quedan excluidos de nuevo.</translation>
    </message>
    <message>
        <source>%1: the server sends nothing of a file that has %2.</source>
        <translation>%1: el servidor no envía nada de un archivo que tiene %2.</translation>
    </message>
    <message>
        <source>%1: config &apos;%2&apos;, split &apos;%3&apos;.</source>
        <translation>%1: configuración «%2», partición «%3».</translation>
    </message>
    <message>
        <source>%1 is a small .json in the root of hf://%2, as descriptions of data sets are, and was left out.</source>
        <translation>%1 es un .json pequeño en la raíz de hf://%2, como las descripciones de conjuntos de datos, y se omitió.</translation>
    </message>
    <message>
        <source>%1 of the files in %2 are not records of what was left out of this run, %3 for one. If one was damaged, a tracker that is older than it would train its chunks. Compare the chunks that &apos;furrowctl audit RUN&apos; calls excluded, and move the file away.</source>
        <translation>%1 de los archivos en %2 no son registros de lo que se omitió en esta ejecución, por ejemplo %3. Si alguno se dañó, un registro más antiguo que él entrenaría sus fragmentos. Compare los fragmentos que «furrowctl audit EJECUCIÓN» da por excluidos y aparte el archivo.</translation>
    </message>
    <message>
        <source>Put the newer one back if you have it. &apos;furrowctl doctor %1 --repair&apos; takes the snapshot in its place where that is newer.</source>
        <translation>Vuelva a poner el más reciente si lo tiene. «furrowctl doctor %1 --repair» toma la instantánea en su lugar si esta es más reciente.</translation>
    </message>
    <message>
        <source>%1; %2 of its %3 windows are in the weights</source>
        <translation>%1; %2 de sus %3 ventanas están en los pesos</translation>
    </message>
    <message>
        <source>left out, for it cannot be read: %1</source>
        <translation>omitido porque no se puede leer: %1</translation>
    </message>
    <message>
        <source>%1 is text by its name, and is trained as it stands, though its lines are JSON objects. Name it .jsonl to train a column of them.</source>
        <translation>%1 es texto según su nombre y se entrena tal como está, aunque sus líneas son objetos JSON. Llámelo .jsonl para entrenar una columna de ellos.</translation>
    </message>
    <message>
        <source>A fraction of %1 takes no row of %2. Take a larger one, or max_samples.</source>
        <translation>Una fracción de %1 no toma ninguna fila de %2. Elija una mayor o max_samples.</translation>
    </message>
    <message>
        <source>%1 is binary, not text. If it is text with control characters in it, name its encoding, such as utf-8, with --encoding.</source>
        <translation>%1 es binario, no texto. Si es texto con caracteres de control, indique su codificación, por ejemplo utf-8, con --encoding.</translation>
    </message>
    <message>
        <source>Taken forward from the manifests in %1, the tracker would give up newest weights that it knows: %2. Nothing was changed. &apos;furrowctl resume %3 --accept-loss&apos; goes on from what the tracker knows and is whole, and moves what it does not know to checkpoints/unknown; &apos;furrowctl doctor %4 --repair --accept-loss&apos; gives them up, and %5 of %6 known chunks are trained then.</source>
        <translation>Puesto al día a partir de los manifiestos de %1, el registro renunciaría a los pesos más recientes que conoce: %2. No se ha cambiado nada. «furrowctl resume %3 --accept-loss» continúa desde lo que el registro conoce y está íntegro, y mueve lo que no conoce a checkpoints/unknown; «furrowctl doctor %4 --repair --accept-loss» renuncia a ellos, y entonces están entrenados %5 de %6 fragmentos conocidos.</translation>
    </message>
    <message>
        <source>%1 chunks that a person left out are in these weights all the same: the weights were made without knowledge of that. &apos;furrowctl resume RUN --from-checkpoint&apos; goes back to before them.</source>
        <translation>%1 fragmentos que una persona excluyó están aun así en estos pesos: los pesos se hicieron sin saberlo. «furrowctl resume EJECUCIÓN --from-checkpoint» retrocede a antes de ellos.</translation>
    </message>
    <message>
        <source>In %1 lie manifests of this run that the tracker %2 does not know: %3, the newest %4 (step %5, %6). It knows newer ones too: the folder holds two lines of the run, or the tracker was put back from a copy.</source>
        <translation>En %1 hay manifiestos de esta ejecución que el registro %2 no conoce: %3, el más reciente %4 (paso %5, %6). También conoce otros más recientes: la carpeta contiene dos líneas de la ejecución, o el registro se restauró de una copia.</translation>
    </message>
    <message>
        <source>the history of events: from which state to which chunks moved, when and why; and why claims ended</source>
        <translation>el historial de sucesos: de qué estado a cuál pasaron los fragmentos, cuándo y por qué; y por qué terminaron las reservas</translation>
    </message>
    <message>
        <source>of a block how many of its rows repeat others, had bytes that are not UTF-8 or could not be read</source>
        <translation>de un bloque, cuántas de sus filas repiten otras, tenían bytes que no son UTF-8 o no se pudieron leer</translation>
    </message>
    <message>
        <source>%1 is left out already</source>
        <translation>%1 ya está excluido</translation>
    </message>
    <message>
        <source>process %1 (stopped)</source>
        <translation>el proceso %1 (detenido)</translation>
    </message>
    <message>
        <source>process %1 (%2, stopped)</source>
        <translation>el proceso %1 (%2, detenido)</translation>
    </message>
    <message>
        <source>%1 has locked the tracker; the attempt begins when it lets go. Let it go on or end it.</source>
        <translation>%1 ha bloqueado el registro; el intento empieza cuando lo suelte. Déjelo continuar o termínelo.</translation>
    </message>
    <message>
        <source>The supervisor (process %1) holds the run and has begun no attempt yet.</source>
        <translation>El supervisor (proceso %1) tiene a su cargo la ejecución y aún no ha empezado ningún intento.</translation>
    </message>
    <message>
        <source>%1 holds %2 and is not a program of Furrow: until it lets go, no attempt can begin.</source>
        <translation>%1 tiene bloqueado %2 y no es un programa de Furrow: hasta que lo suelte no puede empezar ningún intento.</translation>
    </message>
    <message>
        <source>%1 is free, and surviving checkpoints have all of its windows</source>
        <translation>%1 está libre, y los puntos de control supervivientes tienen todas sus ventanas</translation>
    </message>
    <message>
        <source>%1 says that it has tracker version %2 and has tables of a newer one: it was changed from outside; `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove</source>
        <translation>%1 dice tener la versión de registro %2 y tiene tablas de una más reciente: se cambió desde fuera; `furrowctl doctor %3 --repair` reconstruye lo que prueban los puntos de control</translation>
    </message>
    <message>
        <source>Block %1 was prepared again and has other content than what the run was given, which is there no more: its text cannot be shown. `furrowctl audit RUN --deep` says what the source has.</source>
        <translation>El bloque %1 se preparó de nuevo, pero su contenido difiere del que recibió la ejecución, que ya no existe: su texto no se puede mostrar. `furrowctl audit EJECUCIÓN --deep` dice qué tiene la fuente.</translation>
    </message>
    <message>
        <source>of a replica whether it rests, and which of the newest weights it stands on</source>
        <translation>de una réplica, si descansa y en cuáles de los pesos más recientes está</translation>
    </message>
    <message>
        <source>The folder %1 is not there, and process %2 still supervises a run in it: its disk was taken away meanwhile, or the folder was moved. Bring it back and the run goes on; or end that process: what no checkpoint has is trained again after a resume.</source>
        <translation>Falta la carpeta %1, y el proceso %2 sigue supervisando una ejecución en ella: mientras tanto se retiró su disco o se movió la carpeta. Devuélvala y la ejecución continúa; o termine ese proceso: lo que ningún punto de control tiene se vuelve a entrenar tras reanudar.</translation>
    </message>
    <message>
        <source>%1 has no cache: nothing was prepared or fetched there yet.</source>
        <translation>%1 no tiene caché: todavía no se preparó ni se descargó nada allí.</translation>
    </message>
    <message>
        <source>says that it comes in chunks, and these are broken</source>
        <translation>dice que viene en trozos (chunked), y estos están dañados</translation>
    </message>
    <message>
        <source>lies where the file is damaged</source>
        <translation>está en la parte dañada del archivo</translation>
    </message>
    <message>
        <source>%1: its rows are lists, and in a list no column can be named. Write each object of them as a row of its own, all in one list or one per line (jsonl).</source>
        <translation>%1: sus filas son listas, y en una lista no se puede nombrar ninguna columna. Escriba cada objeto de ellas como una fila propia, todos en una sola lista o uno por línea (jsonl).</translation>
    </message>
    <message>
        <source>%1: none of its first rows is a JSON object with members, the first begins with %2. Write each row as an object with a member that holds its text, one per line (jsonl).</source>
        <translation>%1: ninguna de sus primeras filas es un objeto JSON con miembros; la primera empieza por %2. Escriba cada fila como un objeto con un miembro que contenga su texto, uno por línea (jsonl).</translation>
    </message>
    <message>
        <source>%1 What cannot be read is left out (%2).</source>
        <translation>%1 Lo que no se puede leer se deja fuera (%2).</translation>
    </message>
    <message>
        <source>%1 is a zip archive with %2 of something else before it, such as the program of one that unpacks itself. Unpack it and name the folder.</source>
        <translation>%1 es un archivo zip con %2 de otra cosa delante, como el programa de uno que se descomprime solo. Descomprímalo e indique la carpeta.</translation>
    </message>
    <message>
        <source>%1 has no column &apos;%2&apos;. Its columns with text are: %3.</source>
        <translation>%1 no tiene ninguna columna «%2». Sus columnas con texto son: %3.</translation>
    </message>
    <message>
        <source>%1 cannot be read as Parquet in its rows %2 to %3, counted from 0 (%4). Fetch or write it again.</source>
        <translation>%1 no se puede leer como Parquet en sus filas %2 a %3, contadas desde 0 (%4). Descárguelo o escríbalo de nuevo.</translation>
    </message>
    <message>
        <source>%1 holds several JSON documents: a second one begins at byte %2, after the end of the first. Join them in one list, or write one object per line (jsonl).</source>
        <translation>%1 contiene varios documentos JSON: un segundo empieza en el byte %2, tras el final del primero. Únalos en una sola lista, o escriba un objeto por línea (jsonl).</translation>
    </message>
    <message>
        <source>the source goes on after block %1, which the tracker calls the last one: blocks were taken out of it</source>
        <translation>la fuente continúa después del bloque %1, que el registro considera el último: se quitaron bloques de él</translation>
    </message>
    <message>
        <source>Prepared blocks of wrong bytes that were put aside in the cache (*.bad-*), where other runs over the same data would have found them: %1. Each is made again when it is needed.</source>
        <translation>Bloques preparados de bytes erróneos que se apartaron en la caché (*.bad-*), donde otras ejecuciones sobre los mismos datos los habrían encontrado: %1. Cada uno se vuelve a preparar cuando hace falta.</translation>
    </message>
    <message>
        <source>the tracker&apos;s record of run.json was taken out or cut: nothing proves run.json any more</source>
        <translation>se quitó o se cortó lo que el registro guarda de run.json: ya nada prueba run.json</translation>
    </message>
    <message>
        <source>The manifests of %1 checkpoints are gone from %2, that of %3 for one: nothing but the tracker proves any more what they trained, and no repair can make it anew. Put them back from a copy of the run if you have one; it goes on without them.</source>
        <translation>Faltan en %2 los manifiestos de %1 puntos de control, por ejemplo el de %3: solo el registro prueba ya lo que entrenaron, y ninguna reparación puede rehacerlo. Restáurelos de una copia de la ejecución si la tiene; continúa sin ellos.</translation>
    </message>
    <message>
        <source>checkpoint %1 proves nothing: its manifest is not the one that checkpoint %2 was made from, so one of the two was changed</source>
        <translation>el punto de control %1 no prueba nada: su manifiesto no es aquel del que se hizo el punto de control %2, así que uno de los dos se cambió</translation>
    </message>
    <message>
        <source>what was rebuilt does not pass the audit, so nothing was changed: %1</source>
        <translation>lo reconstruido no pasa la auditoría, así que no se cambió nada: %1</translation>
    </message>
    <message>
        <source>what is left does not prove what the newest weights hold: %1. Nothing was changed. Put what is missing or was changed back from a copy of the run, or its newest tracker.sqlite, and repair then</source>
        <translation>lo que queda no prueba lo que contienen los pesos más recientes: %1. No se cambió nada. Restaure de una copia de la ejecución lo que falta o se cambió, o su tracker.sqlite más reciente, y repare entonces</translation>
    </message>
    <message>
        <source>What went into the weights of %1 cannot be held against its proof: %2. Nothing was changed. Put the manifest back from a copy of the run and resume; or &apos;furrowctl resume %3 --accept-loss&apos; goes on by the tracker alone, and &apos;furrowctl audit %4&apos; goes on saying so.</source>
        <translation>Lo que entró en los pesos de %1 no se puede contrastar con su prueba: %2. No se cambió nada. Restaure el manifiesto de una copia de la ejecución y reanude; o «furrowctl resume %3 --accept-loss» continúa solo con el registro, y «furrowctl audit %4» lo seguirá diciendo.</translation>
    </message>
    <message>
        <source>%1, a record of what a person left out, is damaged: a tracker that is older than it would train those chunks. Nothing was changed. Put it back from a copy of the run and resume; or, when &apos;furrowctl audit %2&apos; calls all of these chunks excluded, move it away; or &apos;furrowctl resume %3 --accept-loss&apos; goes on by the tracker alone.</source>
        <translation>%1, un apunte de lo que una persona excluyó, está dañado: un registro más antiguo que él entrenaría esos fragmentos. No se cambió nada. Restáurelo de una copia de la ejecución y reanude; o, cuando «furrowctl audit %2» dé por excluidos todos esos fragmentos, quítelo de ahí; o «furrowctl resume %3 --accept-loss» continúa solo con el registro.</translation>
    </message>
    <message>
        <source>has another number of entries than parents</source>
        <translation>no tiene el mismo número de entradas que parents</translation>
    </message>
    <message>
        <source>An epoch trains at most about %1 tokens: what of them repeats other texts, or is left out by name, is known when its blocks are prepared.</source>
        <translation>Una época entrena como mucho unos %1 tokens: cuántos de ellos repiten otros textos, o se omiten por su nombre, se sabe cuando se preparan sus bloques.</translation>
    </message>
    <message>
        <source>%1 Where that one is not at hand, end its supervisor, process %2: it saves and ends with all its workers.</source>
        <translation>%1 Si aquella no está a mano, termine su supervisor, el proceso %2: guarda y termina con todos sus trabajadores.</translation>
    </message>
    <message>
        <source>All of epoch 1 is kept.</source>
        <translation>Se conserva toda la época 1.</translation>
    </message>
    <message>
        <source>What block %1 was first prepared from is not what its source holds: %2 is as it was when the run was made (its hash was compared), so it was read or transferred wrongly then. What was trained of it stays in the weights. Accept its other chunks as not trained (&apos;furrowctl chunks accept&apos;) and resume, or begin a new run.</source>
        <translation>Aquello de lo que se preparó por primera vez el bloque %1 no es lo que contiene su fuente: %2 sigue como cuando se creó la ejecución (se comparó su hash), así que entonces se leyó o se transfirió mal. Lo que se entrenó de él queda en los pesos. Acepte sus demás fragmentos como no entrenados («furrowctl chunks accept») y reanude, o empiece una ejecución nueva.</translation>
    </message>
    <message>
        <source>Block %1 has other content than when it was first prepared. By its server %2 is the same file, and nothing tells whether what came of it is right: one of the two transfers was wrong. &apos;furrowctl audit RUN --deep&apos; reads it once more. If that finds the block wrong, accept its other chunks as not trained (&apos;furrowctl chunks accept&apos;) and resume, or begin a new run; else try it again (&apos;furrowctl chunks retry&apos;).</source>
        <translation>El bloque %1 no tiene el mismo contenido que cuando se preparó por primera vez. Según su servidor, %2 es el mismo archivo, y nada indica si lo que llegó de él es correcto: una de las dos transferencias fue errónea. «furrowctl audit EJECUCIÓN --deep» lo lee una vez más. Si encuentra erróneo el bloque, acepte sus demás fragmentos como no entrenados («furrowctl chunks accept») y reanude, o empiece una ejecución nueva; si no, inténtelo de nuevo («furrowctl chunks retry»).</translation>
    </message>
    <message>
        <source>%1: its block has %2 chunks; the number of the chunk or the row of the block was changed</source>
        <translation>%1: su bloque tiene %2 fragmentos; se cambió el número del fragmento o la fila del bloque</translation>
    </message>
    <message>
        <source>epoch %1 has %2 of the %3 chunks of block %4: rows were taken out, or have the number of another chunk</source>
        <translation>la época %1 tiene %2 de los %3 fragmentos del bloque %4: se quitaron filas, o tienen el número de otro fragmento</translation>
    </message>
    <message>
        <source>%1: its %2 samples with %3 tokens do not make %4 windows: its row was changed</source>
        <translation>%1: sus %2 muestras con %3 tokens no forman %4 ventanas: se cambió su fila</translation>
    </message>
    <message>
        <source>epoch %1 is marked as one that is still being opened, which only the newest can be, and never the first: its row was changed</source>
        <translation>la época %1 está marcada como aún por abrir del todo, lo que solo puede ser la más reciente y nunca la primera: se cambió su fila</translation>
    </message>
    <message>
        <source>the table %1 has %2 rows, it must have one; &apos;furrowctl doctor %3 --repair&apos; makes the tracker anew</source>
        <translation>la tabla %1 tiene %2 filas, debe tener una; «furrowctl doctor %3 --repair» rehace el registro</translation>
    </message>
    <message>
        <source>the events close %1 epochs, and %2 are marked as closed; &apos;furrowctl doctor %3 --repair&apos; counts anew</source>
        <translation>los sucesos cierran %1 épocas y %2 están marcadas como cerradas; «furrowctl doctor %3 --repair» vuelve a contar</translation>
    </message>
    <message>
        <source>the meter %1 of epoch %2 says %3, the rows of its chunks say %4; &apos;furrowctl doctor %5 --repair&apos; counts anew</source>
        <translation>el contador %1 de la época %2 dice %3, las filas de sus fragmentos dicen %4; «furrowctl doctor %5 --repair» vuelve a contar</translation>
    </message>
    <message>
        <source>the tracker has no row of block %1, and one of block %2; &apos;furrowctl doctor %3 --repair&apos; plans the data anew</source>
        <translation>el registro no tiene fila del bloque %1 y sí del bloque %2; «furrowctl doctor %3 --repair» vuelve a planificar los datos</translation>
    </message>
    <message>
        <source>the tracker counts %1 known blocks and %2 prepared ones, it has %3 and %4; &apos;furrowctl doctor %5 --repair&apos; counts anew</source>
        <translation>el registro cuenta %1 bloques conocidos y %2 preparados, tiene %3 y %4; «furrowctl doctor %5 --repair» vuelve a contar</translation>
    </message>
    <message>
        <source>the total %1 of the run says %2, its chunks, claims and parts say %3; &apos;furrowctl doctor %4 --repair&apos; counts anew</source>
        <translation>el total %1 de la ejecución dice %2, sus fragmentos, reservas y partes dicen %3; «furrowctl doctor %4 --repair» vuelve a contar</translation>
    </message>
    <message>
        <source>the tracker lacks its control row; run `furrowctl doctor %1 --repair`</source>
        <translation>al registro le falta su fila de control; ejecute `furrowctl doctor %1 --repair`</translation>
    </message>
    <message>
        <source>%1 It came so %2 times in a row and is not fetched again in this attempt.</source>
        <translation>%1 Llegó así %2 veces seguidas y no se vuelve a descargar en este intento.</translation>
    </message>
    <message>
        <source>It could not be asked whether the files of %1 are as they were when the run was made. What of them lies in the cache is trained, the rest is waited for. %2</source>
        <translation>No se pudo preguntar si los archivos de %1 siguen como cuando se hizo la ejecución. Lo que está en la caché se entrena, lo demás se espera. %2</translation>
    </message>
    <message>
        <source>%1 other rows of block %2, which was prepared with them: %3</source>
        <translation>%1 otras filas del bloque %2, que se preparó con ellas: %3</translation>
    </message>
    <message>
        <source>%1 With them %2 other rows are left out, which were prepared together with them.</source>
        <translation>%1 Con ellas se excluyen otras %2 filas, que se prepararon a la vez.</translation>
    </message>
    <message>
        <source>%1 is a link to %2, where nothing is; bring that back (mount its disk), or remove the link</source>
        <translation>%1 es un enlace a %2, donde no hay nada; recupérelo (monte su disco) o quite el enlace</translation>
    </message>
    <message>
        <source>%1 is not asked: the secret that goes with the request has a line break or another control character in it. Set it again (HF_TOKEN, or the keys of the store), as one line.</source>
        <translation>No se pregunta a %1: el secreto que acompaña a la petición contiene un salto de línea u otro carácter de control. Vuelva a establecerlo (HF_TOKEN, o las claves del almacén), en una sola línea.</translation>
    </message>
    <message>
        <source>%1 The next resume makes it again.</source>
        <translation>%1 La próxima reanudación la crea de nuevo.</translation>
    </message>
    <message>
        <source>the source: the list of duplicates, %1, is not there or is damaged, and without it no block can be prepared</source>
        <translation>la fuente: la lista de duplicados, %1, falta o está dañada, y sin ella no se puede preparar ningún bloque</translation>
    </message>
    <message>
        <source>block %1: its plan has the same place of its source twice, or ends before its own rows do: it was changed by hand</source>
        <translation>bloque %1: su plan contiene dos veces el mismo lugar de su fuente, o termina antes que sus propias filas: se modificó a mano</translation>
    </message>
    <message>
        <source>%1 goes on after block %2, which the tracker calls the last one: blocks were taken out of it</source>
        <translation>%1 continúa después del bloque %2, que el registro considera el último: se quitaron bloques de él</translation>
    </message>
    <message>
        <source>the tracker calls its data complete with %1 blocks, and its last snapshot (%2) knows %3: blocks were taken out of it</source>
        <translation>el registro considera completos sus datos con %1 bloques, y su última instantánea (%2) conoce %3: se quitaron bloques de él</translation>
    </message>
    <message>
        <source>Which chunks the parent run trained is taken from parent.json, which nothing proves: this run was made by a version that kept no hash of it.</source>
        <translation>Qué fragmentos entrenó la ejecución padre se toma de parent.json, que nada prueba: esta ejecución la creó una versión que no guardaba su hash.</translation>
    </message>
    <message>
        <source>%1, which are left out</source>
        <translation>%1, que se dejan fuera</translation>
    </message>
    <message>
        <source>%1, which are trained again</source>
        <translation>%1, que se entrenan de nuevo</translation>
    </message>
    <message>
        <source>chunks of block %1 that the parent run trained: by the tracker %2, by parent.json %3</source>
        <translation>fragmentos del bloque %1 que entrenó la ejecución padre: según el registro %2, según parent.json %3</translation>
    </message>
    <message>
        <source>%1 is not the one that this run began with: %2. It says which chunks the parent run trained. Put it back from a copy of the run.</source>
        <translation>%1 no es el archivo con el que empezó esta ejecución: %2. Dice qué fragmentos entrenó la ejecución padre. Restáurelo desde una copia de la ejecución.</translation>
    </message>
    <message>
        <source>the chunks of block %1 are written as nobody writes them</source>
        <translation>los fragmentos del bloque %1 están escritos como nadie los escribe</translation>
    </message>
    <message>
        <source>chunks in its list: %1, by its own count: %2</source>
        <translation>fragmentos de su lista: %1, según su propia cuenta: %2</translation>
    </message>
    <message>
        <source>it is not there</source>
        <translation>falta</translation>
    </message>
    <message>
        <source>the hash of its list is not the one that run.json keeps</source>
        <translation>el hash de su lista no es el que guarda run.json</translation>
    </message>
    <message>
        <source>tracker and parent.json disagree (%1), and nothing proves one of them. Chunks would be left out or trained by the wrong one. Put a copy of %2 or of %3 back from before.</source>
        <translation>el registro y parent.json no coinciden (%1), y nada prueba ninguno de los dos. Se dejarían fuera o se entrenarían fragmentos según el equivocado. Restaure una copia anterior de %2 o de %3.</translation>
    </message>
    <message>
        <source>the list of the chunks that the parent run trained was changed, and parent.json cannot say how: %1</source>
        <translation>la lista de los fragmentos que entrenó la ejecución padre se modificó, y parent.json no puede decir cómo: %1</translation>
    </message>
    <message>
        <source>checkpoint %1 has another manifest by the tracker than by its last snapshot (%2): one of the two was changed by hand, or the manifest together with the tracker</source>
        <translation>el punto de control %1 tiene según el registro un manifiesto distinto del que tiene según su última instantánea (%2): uno de los dos se cambió a mano, o el manifiesto junto con el registro</translation>
    </message>
    <message>
        <source>which chunks the parent run trained, but for tracker and parent.json against each other: this run was made by a version that kept no hash of the list</source>
        <translation>qué fragmentos entrenó la ejecución padre, salvo la comparación entre el registro y parent.json: esta ejecución la creó una versión que no guardaba el hash de la lista</translation>
    </message>
    <message>
        <source>What went into the weights of %1 cannot be held against its proof: %2. Nothing was changed. Put the manifest and the tracker back from a copy of the run and resume; or &apos;furrowctl resume %3 --accept-loss&apos; goes on by the tracker alone, and nothing says so any more.</source>
        <translation>Lo que entró en los pesos de %1 no se puede contrastar con su prueba: %2. No se cambió nada. Restaure el manifiesto y el registro de una copia de la ejecución y reanude; o «furrowctl resume %3 --accept-loss» continúa solo con el registro, y nada lo dirá ya.</translation>
    </message>
    <message>
        <source>Checkpoint %1 was marked damaged and is whole: it is taken back with 1 chunk.</source>
        <translation>El punto de control %1 estaba marcado como dañado y está íntegro: se recupera con 1 fragmento.</translation>
    </message>
    <message>
        <source>%1 Its chunk is free again.</source>
        <translation>%1 Su fragmento vuelve a estar libre.</translation>
    </message>
    <message>
        <source>It keeps 1 chunk and trains none again.</source>
        <translation>Conserva 1 fragmento y no vuelve a entrenar ninguno.</translation>
    </message>
    <message>
        <source>It keeps 1 chunk and trains %1 again: %2.</source>
        <translation>Conserva 1 fragmento y vuelve a entrenar %1: %2.</translation>
    </message>
    <message>
        <source>a person stopped it, and %1</source>
        <translation>una persona lo detuvo, y %1</translation>
    </message>
    <message>
        <source>it was asked to end (SIGTERM: a stop, a shut-down or a log-out), and %1</source>
        <translation>se le pidió terminar (SIGTERM: una detención, un apagado o un cierre de sesión), y %1</translation>
    </message>
    <message>
        <source>Worker %1 stands still: somebody stopped process %2 (Ctrl+Z, SIGSTOP, a debugger). It has said nothing for %3. SIGCONT (`fg`, `kill -CONT`) lets it go on; when its lease ends, in about %4, or as soon as others wait for it, it is ended and started again.</source>
        <translation>El trabajador %1 está parado: alguien detuvo el proceso %2 (Ctrl+Z, SIGSTOP, un depurador). No ha dicho nada desde hace %3. SIGCONT (`fg`, `kill -CONT`) lo deja seguir; cuando termine su plazo, en unos %4, o en cuanto otros lo esperen, se termina y se inicia de nuevo.</translation>
    </message>
    <message>
        <source>the feeder stands still</source>
        <translation>el alimentador está detenido</translation>
    </message>
    <message>
        <source>The feeder stands still: somebody stopped process %1 (Ctrl+Z, SIGSTOP, a debugger). SIGCONT (`fg`, `kill -CONT`) lets it go on; until then no block is prepared. When workers wait for data, it is ended and started again.</source>
        <translation>El alimentador está detenido: alguien paró el proceso %1 (Ctrl+Z, SIGSTOP, un depurador). SIGCONT (`fg`, `kill -CONT`) lo deja seguir; hasta entonces no se prepara ningún bloque. Cuando los trabajadores esperen datos, se termina y se inicia de nuevo.</translation>
    </message>
    <message>
        <source>A process that cannot be seen from here, perhaps in another container, holds the run.</source>
        <translation>Un proceso que no se ve desde aquí, quizá en otro contenedor, tiene a su cargo la ejecución.</translation>
    </message>
    <message>
        <source>The supervisor (process %1) holds the run.</source>
        <translation>El supervisor (proceso %1) tiene a su cargo la ejecución.</translation>
    </message>
    <message>
        <source>Resuming asks for it again.</source>
        <translation>Al reanudar se vuelve a pedir.</translation>
    </message>
    <message>
        <source>a part of the data cannot be read (%1). Resuming tries it again.</source>
        <translation>una parte de los datos no se puede leer (%1). Al reanudar se intenta de nuevo.</translation>
    </message>
    <message>
        <source>the supervisor ended it: %1</source>
        <translation>el supervisor lo terminó: %1</translation>
    </message>
    <message>
        <source>it ended its work and did not exit</source>
        <translation>acabó su trabajo y no salió</translation>
    </message>
    <message>
        <source>it stood still while it started</source>
        <translation>se quedó detenido mientras arrancaba</translation>
    </message>
    <message>
        <source>%1 ended: %2. See %3 for more.</source>
        <translation>%1 terminó: %2. Más detalles en %3.</translation>
    </message>
    <message>
        <source>%1: its block has 1 chunk; the number of the chunk or the row of the block was changed</source>
        <translation>%1: su bloque tiene 1 fragmento; se cambió el número del fragmento o la fila del bloque</translation>
    </message>
    <message>
        <source>epoch %1 leaves out 1 chunk that the parent run trained (parent.json names it)</source>
        <translation>la época %1 omite 1 fragmento que entrenó la ejecución padre (parent.json lo nombra)</translation>
    </message>
    <message>
        <source>1 chunk of epoch %1 is in the weights of the parent run too: this run is a new pass (parent_chunks=again)</source>
        <translation>1 fragmento de la época %1 está también en los pesos de la ejecución padre: esta ejecución es una pasada nueva (parent_chunks=again)</translation>
    </message>
    <message>
        <source>epoch %1 is closed although 1 chunk is left</source>
        <translation>la época %1 está cerrada aunque queda 1 fragmento</translation>
    </message>
    <message>
        <source>checkpoint %1 is not older than what round %2 of merging gave, and is said to have been given to it</source>
        <translation>el punto de control %1 no es anterior a lo que dio la ronda de fusión %2, pero consta que se le entregó</translation>
    </message>
    <message>
        <source>worker process %1 is said to have contributed to round %2 of merging for a replica that it did not train</source>
        <translation>consta que el proceso de trabajo %1 contribuyó a la ronda de fusión %2 por una réplica que no entrenó</translation>
    </message>
    <message>
        <source>%1 is %2, and its last event says that it is %3: its row was changed from outside</source>
        <translation>%1: su estado es %2, y su último suceso dice que es %3: su fila se modificó desde fuera</translation>
    </message>
    <message>
        <source>%1: the tracker had other rows, windows or tokens than its block; they were stored anew from it</source>
        <translation>%1: el registro tenía otras filas, ventanas o tokens que su bloque; se guardaron de nuevo a partir de este</translation>
    </message>
    <message>
        <source>there is no tracker %1; `furrowctl doctor %2 --repair` rebuilds what the checkpoints prove</source>
        <translation>no hay registro %1; `furrowctl doctor %2 --repair` reconstruye lo que prueban los puntos de control</translation>
    </message>
    <message>
        <source>Chunks of the first epoch that are left untrained by name: %1 in %2, %3 in %4.</source>
        <translation>Fragmentos de la primera época que se dejan sin entrenar por su nombre: %1 en %2, %3 en %4.</translation>
    </message>
    <message>
        <source>%1 is not a folder, and a workspace keeps a folder there. Move away what has its name.</source>
        <translation>%1 no es una carpeta, y un espacio de trabajo guarda ahí una carpeta. Aparte lo que lleva su nombre.</translation>
    </message>
    <message>
        <source>The tracker is locked by another program, %1. Let it go on or end it.</source>
        <translation>Otro programa tiene bloqueado el registro: %1. Déjelo continuar o termínelo.</translation>
    </message>
    <message>
        <source>1 chunk that a person had left out would be trained; it is left out again.</source>
        <translation>1 fragmento que una persona había excluido se entrenaría; queda excluido de nuevo.</translation>
    </message>
    <message>
        <source>1 chunk that a person left out is in these weights all the same: the weights were made without knowledge of that. &apos;furrowctl resume RUN --from-checkpoint&apos; goes back to before it.</source>
        <translation>1 fragmento que una persona excluyó está aun así en estos pesos: los pesos se hicieron sin saberlo. «furrowctl resume EJECUCIÓN --from-checkpoint» retrocede a antes de él.</translation>
    </message>
    <message>
        <source>%1 The run is still being trained. To stop it, end its supervisor, process %2: it saves and ends with all its workers.</source>
        <translation>%1 El entrenamiento sigue en marcha. Para detenerlo, termine su supervisor, el proceso %2: guarda y termina con todos sus trabajadores.</translation>
    </message>
    <message>
        <source>1 as its worker ended before a checkpoint had it</source>
        <translation>1 porque su trabajador terminó antes de que un punto de control lo tuviera</translation>
    </message>
    <message>
        <source>%1 as their workers ended before a checkpoint had them</source>
        <translation>%1 porque sus trabajadores terminaron antes de que un punto de control los tuviera</translation>
    </message>
    <message>
        <source>1 as the run went back to an older checkpoint</source>
        <translation>1 porque la ejecución volvió a un punto de control anterior</translation>
    </message>
    <message>
        <source>%1 as the run went back to an older checkpoint</source>
        <translation>%1 porque la ejecución volvió a un punto de control anterior</translation>
    </message>
    <message>
        <source>1 as the checkpoint that had it was damaged, gone or left out of a merge</source>
        <translation>1 porque el punto de control que lo tenía estaba dañado, había desaparecido o quedó fuera de una fusión</translation>
    </message>
    <message>
        <source>%1 as the checkpoints that had them were damaged, gone or left out of a merge</source>
        <translation>%1 porque los puntos de control que los tenían estaban dañados, habían desaparecido o quedaron fuera de una fusión</translation>
    </message>
    <message>
        <source>1 of the %1 samples that were read cannot be used: %2.</source>
        <translation>1 de las %1 muestras leídas no se puede usar: %2.</translation>
    </message>
    <message>
        <source>1 of the %1 samples that were read is filtered.</source>
        <translation>1 de las %1 muestras leídas queda filtrada.</translation>
    </message>
    <message>
        <source>1 of the %1 samples that were read is a repeat.</source>
        <translation>1 de las %1 muestras leídas es una repetición.</translation>
    </message>
    <message>
        <source>1 of the %1 samples that were read is longer than a window.</source>
        <translation>1 de las %1 muestras leídas es más larga que una ventana.</translation>
    </message>
    <message>
        <source>1 of the %1 samples that were read has bytes or escapes that are not characters.</source>
        <translation>1 de las %1 muestras leídas tiene bytes o secuencias de escape que no son caracteres.</translation>
    </message>
    <message>
        <source>1 more block is not inspected: its source cannot be reached now</source>
        <translation>1 bloque más no se inspeccionó: su fuente no es accesible ahora</translation>
    </message>
    <message>
        <source>1 block prepared once more from %1 of text, and the fingerprints of its samples, chunk by chunk</source>
        <translation>1 bloque preparado otra vez a partir de %1 de texto, y las huellas de sus muestras, fragmento a fragmento</translation>
    </message>
    <message>
        <source>who wrote 1 checkpoint and its loss on held-out text: its manifest is of a version that did not keep it</source>
        <translation>quién escribió 1 punto de control y su pérdida en el texto reservado: su manifiesto es de una versión que no lo guardaba</translation>
    </message>
    <message>
        <source>weights of 1 checkpoint that the run itself removed, or left, while it was inspected</source>
        <translation>pesos de 1 punto de control que la propia ejecución eliminó o dejó atrás mientras se inspeccionaba</translation>
    </message>
    <message>
        <source>the manifest of 1 more checkpoint could not be inspected</source>
        <translation>no se pudo inspeccionar el manifiesto de otro punto de control</translation>
    </message>
    <message>
        <source>the manifests of %1 more checkpoints could not be inspected</source>
        <translation>no se pudieron inspeccionar los manifiestos de otros %1 puntos de control</translation>
    </message>
    <message>
        <source>The manifest of checkpoint %1 is gone from %2: nothing but the tracker proves any more what it trained, and no repair can make it anew. Put it back from a copy of the run if you have one; it goes on without it.</source>
        <translation>Falta en %2 el manifiesto del punto de control %1: solo el registro prueba ya lo que entrenó, y ninguna reparación puede rehacerlo. Restáurelo de una copia de la ejecución si la tiene; continúa sin él.</translation>
    </message>
    <message>
        <source>1 of the kept chunks is left out by name, as its steps were not finite: nothing of it is in the weights.</source>
        <translation>1 de los fragmentos conservados se omite por su nombre, porque sus pasos no eran finitos: nada de él está en los pesos.</translation>
    </message>
    <message>
        <source>%1 of the kept chunks are left out by name, as their steps were not finite: nothing of them is in the weights.</source>
        <translation>%1 de los fragmentos conservados se omiten por su nombre, porque sus pasos no eran finitos: nada de ellos está en los pesos.</translation>
    </message>
    <message>
        <source>Samples of such parts that are left out by name, as their steps were not finite: %1.</source>
        <translation>Muestras de tales partes que se omiten por su nombre, porque sus pasos no eran finitos: %1.</translation>
    </message>
    <message>
        <source>1 worker is still alive. What it saves before it ends is kept too.</source>
        <translation>1 trabajador sigue vivo. Lo que guarde antes de terminar también se conserva.</translation>
    </message>
    <message>
        <source>after a block; 1 known chunk of the epoch is left, and what was not read yet</source>
        <translation>después de un bloque; queda 1 fragmento conocido de la época, y lo que aún no se leyó</translation>
    </message>
    <message>
        <source>after a block; 1 chunk of the epoch is left</source>
        <translation>después de un bloque; queda 1 fragmento de la época</translation>
    </message>
    <message>
        <source>1 row of block %1: %2</source>
        <translation>1 fila del bloque %1: %2</translation>
    </message>
    <message>
        <source>the disk of %1 has %2 free, and %3 are needed: %4 of them stay free for the tracker. Free some space</source>
        <translation>el disco de %1 tiene %2 libres y hacen falta %3: %4 de ellos quedan libres para el registro. Libere algo de espacio</translation>
    </message>
    <message>
        <source>%1 has %2, an address with a key or a signature in it, which would be kept in the run. Put the keys into the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, also when the run is resumed, and give here %3. An https:// address that is signed can stand in FURROW_DATA_SECRET.</source>
        <translation>%1 tiene %2, una dirección con una clave o una firma, que quedaría guardada en la ejecución. Ponga las claves en las variables de entorno AWS_ACCESS_KEY_ID y AWS_SECRET_ACCESS_KEY, también al reanudar la ejecución, e indique aquí %3. Una dirección https:// firmada puede estar en FURROW_DATA_SECRET.</translation>
    </message>
    <message>
        <source>%1 has %2, an address with a key or a signature in it, which would be kept in the run. Put an access token into the environment variable CLOUDSDK_AUTH_ACCESS_TOKEN, also when the run is resumed, and give here %3. An https:// address that is signed can stand in FURROW_DATA_SECRET.</source>
        <translation>%1 tiene %2, una dirección con una clave o una firma, que quedaría guardada en la ejecución. Ponga un token de acceso en la variable de entorno CLOUDSDK_AUTH_ACCESS_TOKEN, también al reanudar la ejecución, e indique aquí %3. Una dirección https:// firmada puede estar en FURROW_DATA_SECRET.</translation>
    </message>
    <message>
        <source>Line %1 of %2</source>
        <translation>La línea %1 de %2</translation>
    </message>
    <message>
        <source>It takes longer to see whether the files of the data are as they were when the run was made. A resume reads all of them for that, and ends or leaves out what changed (%1).</source>
        <translation>Ver si los archivos de los datos son como cuando se creó la ejecución tarda más. Una reanudación los lee todos para ello, y termina u omite lo que cambió (%1).</translation>
    </message>
    <message>
        <source>samples that the start weights have and that are trained again, since the parent run trained their chunks in part: %1, chunks: %2 (by parent.json)</source>
        <translation>muestras que los pesos iniciales ya tienen y que se entrenan de nuevo, porque la ejecución padre entrenó sus fragmentos en parte: %1, fragmentos: %2 (según parent.json)</translation>
    </message>
    <message>
        <source>the optimiser steps of claims (%1) one after the other, and those of their parts against the steps of checkpoints (%2)</source>
        <translation>los pasos del optimizador de las reservas (%1), una tras otra, y los de sus partes frente a los pasos de los puntos de control (%2)</translation>
    </message>
    <message>
        <source>%1 has the tracker of a run and no run.json: it was deleted or moved. Put it back from a copy of the run; nothing else says which files the run was made of.</source>
        <translation>%1 tiene el registro de una ejecución pero no tiene run.json: se borró o se movió. Recupérelo de una copia de la ejecución; nada más dice de qué archivos se hizo.</translation>
    </message>
    <message>
        <source>%1 is the folder of a run. Name one of its checkpoints, as --init-from %2/checkpoints/NAME; `furrowctl brain show %3` says which is the newest.</source>
        <translation>%1 es la carpeta de una ejecución. Indique uno de sus puntos de control, como --init-from %2/checkpoints/NOMBRE; `furrowctl brain show %3` dice cuál es el más reciente.</translation>
    </message>
    <message>
        <source>The name of the folder of the run holds what looks like a password or a token, which would be shown everywhere. Name another folder with --out.</source>
        <translation>El nombre de la carpeta de la ejecución contiene lo que parece una contraseña o un token, que se vería en todas partes. Indique otra carpeta con --out.</translation>
    </message>
    <message>
        <source>The name of a data file holds the secret of the environment variable %1, which would be kept in the run. Rename the file.</source>
        <translation>El nombre de un archivo de datos contiene el secreto de la variable de entorno %1, que quedaría guardado en la ejecución. Cambie el nombre del archivo.</translation>
    </message>
    <message>
        <source>The name of a data file holds an address with a password or a signature in it, which would be kept in the run. Rename the file.</source>
        <translation>El nombre de un archivo de datos contiene una dirección con una contraseña o una firma, que quedaría guardada en la ejecución. Cambie el nombre del archivo.</translation>
    </message>
    <message>
        <source>Files that changed: %1.</source>
        <translation>Archivos que cambiaron: %1.</translation>
    </message>
    <message>
        <source>%1 A resume with %2 leaves out by name what is not prepared of that. Chunks of the epochs that are open: %3; rows of other chunks: %4.</source>
        <translation>%1 Una reanudación con %2 omite por su nombre la parte que no está preparada. Fragmentos de las épocas abiertas: %3; filas de otros fragmentos: %4.</translation>
    </message>
    <message>
        <source>Not all of the data is in blocks yet. What it leaves out of the rest is not known, and is not counted here.</source>
        <translation>Todavía no todos los datos están en bloques. No se sabe qué se omite del resto, y no se cuenta aquí.</translation>
    </message>
    <message>
        <source>%1 A run that needs it waits for its disk or share.</source>
        <translation>%1 Una ejecución que lo necesita espera a su disco o recurso compartido.</translation>
    </message>
    <message>
        <source>The run goes on without what could not be read: %1</source>
        <translation>La ejecución sigue sin lo que no se pudo leer: %1</translation>
    </message>
    <message>
        <source>Checkpoints have a part of %1 of the chunks that are left out (%2 of their %3 samples), which is kept; the rest is not trained.</source>
        <translation>Los puntos de control tienen una parte de %1 de los fragmentos omitidos (%2 de sus %3 muestras), que se conserva; el resto no se entrena.</translation>
    </message>
    <message>
        <source>All epochs before epoch %1 are kept.</source>
        <translation>Todas las épocas anteriores a la época %1 se conservan.</translation>
    </message>
    <message>
        <source>what was trained since the last checkpoints is trained again</source>
        <translation>lo entrenado desde los últimos puntos de control se entrena de nuevo</translation>
    </message>
    <message>
        <source>of weights with 1 step; %1</source>
        <translation>de pesos con 1 paso; %1</translation>
    </message>
    <message>
        <source>of weights with 1 step, on %1 tokens that are trained too, for the data is too small to hold text out; %2</source>
        <translation>de pesos con 1 paso, en %1 tokens que también se entrenan, pues hay demasiado pocos datos para reservar texto; %2</translation>
    </message>
    <message>
        <source>of weights with 1 step, on %1 tokens of held-out text; %2</source>
        <translation>de pesos con 1 paso, sobre %1 tokens de texto reservado; %2</translation>
    </message>
    <message>
        <source>%1 is running. Stop it first.</source>
        <translation>%1 está en marcha. Deténgala antes.</translation>
    </message>
    <message>
        <source>The workers are started again, together, at %1, once all of them have ended.</source>
        <translation>Los trabajadores se inician de nuevo, juntos, a las %1, cuando todos hayan terminado.</translation>
    </message>
    <message>
        <source>The workers were started together at %1; not all of them have begun yet.</source>
        <translation>Los trabajadores se iniciaron juntos a las %1; todavía no han empezado todos.</translation>
    </message>
    <message>
        <source>Worker %1 was started at %2 and has not begun yet.</source>
        <translation>El trabajador %1 se inició a las %2 y todavía no ha empezado.</translation>
    </message>
    <message>
        <source>Worker %1 is started again at %2.</source>
        <translation>El trabajador %1 se inicia de nuevo a las %2.</translation>
    </message>
    <message>
        <source>The newest weights are read before the worker that gave up is started again.</source>
        <translation>Los pesos más recientes se leen antes de iniciar de nuevo el trabajador que se rindió.</translation>
    </message>
    <message>
        <source>the tracker in one moment: the states, claims, parts and checkpoints of its chunks (%1)</source>
        <translation>el registro en un mismo instante: los estados, reservas, partes y puntos de control de sus fragmentos (%1)</translation>
    </message>
    <message>
        <source>it is to be trained again</source>
        <translation>está por entrenarse de nuevo</translation>
    </message>
    <message>
        <source>it was given out again</source>
        <translation>se volvió a repartir</translation>
    </message>
    <message>
        <source>it was trained again, and no checkpoint has it yet</source>
        <translation>se volvió a entrenar, y ningún punto de control lo tiene todavía</translation>
    </message>
    <message>
        <source>it was trained again</source>
        <translation>se volvió a entrenar</translation>
    </message>
    <message>
        <source>it is %1 now</source>
        <translation>ahora está %1</translation>
    </message>
    <message>
        <source>trainings of %1 lost with their weights: %2; %3</source>
        <translation>entrenamientos de %1 perdidos con sus pesos: %2; %3</translation>
    </message>
    <message>
        <source>no further epoch is to be trained</source>
        <translation>no hay que entrenar ninguna época más</translation>
    </message>
    <message>
        <source>Chunks of the first epoch that are left out because the parent run trained them: %1 in %2, %3 in %4.</source>
        <translation>Fragmentos de la primera época que se omiten porque los entrenó la ejecución padre: %1 en %2, %3 en %4.</translation>
    </message>
    <message>
        <source>Chunks of the first epoch that %1 trained and no weights have any more: %2. They are not compared.</source>
        <translation>Fragmentos de la primera época que %1 entrenó y que ya no están en ningún peso: %2. No se comparan.</translation>
    </message>
    <message>
        <source>%1 was made of other data.</source>
        <translation>%1 se hizo de otros datos.</translation>
    </message>
    <message>
        <source>process %1 (stopped) of %2</source>
        <translation>el proceso %1 (detenido) de %2</translation>
    </message>
    <message>
        <source>process %1 of %2</source>
        <translation>el proceso %1 de %2</translation>
    </message>
    <message>
        <source>process %1 (%2, stopped) of %3</source>
        <translation>el proceso %1 (%2, detenido) de %3</translation>
    </message>
    <message>
        <source>process %1 (%2) of %3</source>
        <translation>el proceso %1 (%2) de %3</translation>
    </message>
    <message>
        <source>checkpoints that are no longer needed can be removed again</source>
        <translation>los puntos de control que ya no hacen falta se pueden eliminar de nuevo</translation>
    </message>
    <message>
        <source>permission denied: %1 is yours, and its rights keep you out; give them back (chmod -R u+rwX)</source>
        <translation>permiso denegado: %1 es suyo, y sus permisos no le dejan entrar; devuélvalos (chmod -R u+rwX)</translation>
    </message>
    <message>
        <source>permission denied: %1 belongs to %2 and is for the group %3, which you are not in; they or an administrator can add you; log in again afterwards</source>
        <translation>permiso denegado: %1 pertenece a %2 y es para el grupo %3, del que usted no forma parte; esa persona o un administrador puede añadirle; después vuelva a iniciar sesión</translation>
    </message>
    <message>
        <source>permission denied: the folder %1 belongs to %2, who can let a group enter it (chmod g+x)</source>
        <translation>permiso denegado: la carpeta %1 pertenece a %2, que puede dejar entrar a un grupo (chmod g+x)</translation>
    </message>
    <message>
        <source>permission denied: %1 belongs to %2, who can let a group read it (chmod -R g+rX)</source>
        <translation>permiso denegado: %1 pertenece a %2, que puede dejar que un grupo lo lea (chmod -R g+rX)</translation>
    </message>
    <message>
        <source>permission denied: %1 belongs to %2, who can let a group write it (chmod -R g+rwX); or choose another place</source>
        <translation>permiso denegado: %1 pertenece a %2, que puede dejar que un grupo escriba en él (chmod -R g+rwX); o elija otro lugar</translation>
    </message>
    <message>
        <source>Nothing is lost: the right to read it is all that is missing. Grant it, then resume.</source>
        <translation>No se ha perdido nada: solo falta el permiso de lectura. Concédalo y después reanude.</translation>
    </message>
    <message>
        <source>row %1 (counted from 0) of %2 cannot be read: %3</source>
        <translation>la fila %1 (contando desde 0) de %2 no se puede leer: %3</translation>
    </message>
    <message>
        <source>%1 rows from row %2 (counted from 0) of %3 on cannot be read: %4</source>
        <translation>%1 filas desde la fila %2 (contando desde 0) de %3 no se pueden leer: %4</translation>
    </message>
    <message>
        <source>The data has too few samples (%1): blocks of %2 would be fewer than %3, so a block has %4.</source>
        <translation>Los datos tienen muy pocas muestras (%1): los bloques de %2 serían menos de %3, así que un bloque tiene %4.</translation>
    </message>
    <message>
        <source>%1 Blocks with rows of it, which could not be inspected: %2.</source>
        <translation>%1 Bloques con filas suyas que no se pudieron inspeccionar: %2.</translation>
    </message>
    <message>
        <source>%1 The run left out by name what was not prepared of it. Blocks that were prepared before, and are compared with nothing: %2.</source>
        <translation>%1 La ejecución dejó fuera, con su nombre, lo que de él no estaba preparado. Bloques que se prepararon antes y no se comparan con nada: %2.</translation>
    </message>
    <message>
        <source>%1 It is not the file that the run was made of. Blocks with rows of it, which could not be compared: %2.</source>
        <translation>%1 No es el archivo con el que se creó la ejecución. Bloques con filas suyas que no se pudieron comparar: %2.</translation>
    </message>
    <message>
        <source>%1 (checkpoints have a part of %2 of these: %3 of their %4 samples are kept)</source>
        <translation>%1 (los puntos de control tienen una parte de %2 de ellos: se conservan %3 de sus %4 muestras)</translation>
    </message>
    <message>
        <source>%1 cannot be written; check the permissions of its folder, and whether its disk is read-only</source>
        <translation>no se puede escribir %1; compruebe los permisos de su carpeta y si su disco es de solo lectura</translation>
    </message>
    <message>
        <source>%1 cannot be opened; check the permissions of its folder</source>
        <translation>no se puede abrir %1; compruebe los permisos de su carpeta</translation>
    </message>
    <message>
        <source>The queue is run by %1, who may not write %2 and could never start it. Let the group write it (chmod -R g+rwX), or add it when that process has ended.</source>
        <translation>La cola la ejecuta %1, que no puede escribir en %2 y nunca podría iniciarla. Deje que el grupo escriba en ella (chmod -R g+rwX) o añádala cuando ese proceso haya terminado.</translation>
    </message>
    <message>
        <source>has the same answer as chosen and as rejected</source>
        <translation>tiene la misma respuesta como chosen y como rejected</translation>
    </message>
    <message>
        <source>has a text and a list of messages as its two answers</source>
        <translation>tiene como respuestas un texto y una lista de mensajes</translation>
    </message>
    <message>
        <source>has no prompt: its chosen and rejected messages differ from the first on</source>
        <translation>no tiene petición: sus mensajes chosen y rejected difieren desde el primero</translation>
    </message>
    <message>
        <source>has no turn of the assistant in %1</source>
        <translation>no tiene ningún turno del asistente en %1</translation>
    </message>
    <message>
        <source>is not a pair of answers</source>
        <translation>no es una pareja de respuestas</translation>
    </message>
    <message>
        <source>%1 is %2, which does not work with %3 %4; allowed is %5.</source>
        <translation>%1 es %2, lo que no funciona con %3 %4; se admite %5.</translation>
    </message>
    <message>
        <source>%1 is 0, but %2 %3 compares the model with its start weights, which are there only beside the pairs of LoRA. Set it, such as to 16.</source>
        <translation>%1 es 0, pero %2 %3 compara el modelo con sus pesos iniciales, que solo están junto a los pares de LoRA. Póngalo, por ejemplo, en 16.</translation>
    </message>
    <message>
        <source>%1 is %2, but %3 %4 reads the columns chosen and rejected, and prompt. Leave it out.</source>
        <translation>%1 es %2, pero %3 %4 lee las columnas chosen y rejected, y prompt. Quítelo.</translation>
    </message>
    <message>
        <source>%1 is text, and %2 needs pairs of answers: rows with the columns chosen and rejected, and perhaps prompt. Write them as jsonl, or leave that setting out.</source>
        <translation>%1 es texto, y %2 necesita parejas de respuestas: filas con las columnas chosen y rejected y, si acaso, prompt. Escríbalas como jsonl o quite ese ajuste.</translation>
    </message>
    <message>
        <source>%1 has not the columns chosen and rejected, which %2 needs. Its columns are: %3. Name a file of pairs, or leave that setting out.</source>
        <translation>%1 no tiene las columnas chosen y rejected, que %2 necesita. Sus columnas son: %3. Indique un archivo de parejas o quite ese ajuste.</translation>
    </message>
    <message>
        <source>%1 holds pairs of answers, which are read from jsonl, json, csv, tsv and Parquet only. Write it as jsonl.</source>
        <translation>%1 contiene parejas de respuestas, que solo se leen de jsonl, json, csv, tsv y Parquet. Escríbalo como jsonl.</translation>
    </message>
    <message>
        <source>The answers of %1 are messages, and there is no chat template that writes them. Name one with chat_template, such as chatml.</source>
        <translation>Las respuestas de %1 son mensajes, y no hay plantilla de chat que los escriba. Indique una con chat_template, como chatml.</translation>
    </message>
    <message>
        <source>The rows are pairs of answers (columns chosen and rejected), written by the chat template: the chosen one is learnt to be preferred.</source>
        <translation>Las filas son parejas de respuestas (columnas chosen y rejected), escritas por la plantilla de chat: se aprende a preferir la elegida.</translation>
    </message>
    <message>
        <source>The rows are pairs of answers (columns chosen and rejected), texts as they stand: the chosen one is learnt to be preferred.</source>
        <translation>Las filas son parejas de respuestas (columnas chosen y rejected), textos tal cual: se aprende a preferir la elegida.</translation>
    </message>
    <message>
        <source>%1 holds pairs of answers (columns chosen and rejected). %2 learns from them which one is preferred; %3 trains the chosen ones as plain text.</source>
        <translation>%1 contiene parejas de respuestas (columnas chosen y rejected). Con %2 se aprende cuál se prefiere; con %3 se entrenan las elegidas como texto.</translation>
    </message>
    <message>
        <source>%1 is %2, and all %3 pairs of answers that pass the filters are too long: an answer with its prompt may have half of that, less one token. Raise it, or set %4 to cut.</source>
        <translation>%1 es %2, y las %3 parejas de respuestas que pasan los filtros son demasiado largas: una respuesta con su petición puede tener la mitad menos un token. Auméntelo o ponga %4 en cut.</translation>
    </message>
    <message>
        <source>of weights with 1 step, on %1 pairs that are trained too, for the data is too small to hold any out; %2</source>
        <translation>de pesos con 1 paso, en %1 parejas que también se entrenan, pues los datos son demasiado pocos para reservar alguna; %2</translation>
    </message>
    <message>
        <source>of weights with 1 step, on %1 held-out pairs of answers; %2</source>
        <translation>de pesos con 1 paso, sobre %1 parejas de respuestas reservadas; %2</translation>
    </message>
    <message>
        <source>of weights with %1 steps, on %2 pairs that are trained too, for the data is too small to hold any out; %3</source>
        <translation>de pesos con %1 pasos, en %2 parejas que también se entrenan, pues los datos son demasiado pocos para reservar alguna; %3</translation>
    </message>
    <message>
        <source>of weights with %1 steps, on %2 held-out pairs of answers; %3</source>
        <translation>de pesos con %1 pasos, sobre %2 parejas de respuestas reservadas; %3</translation>
    </message>
    <message>
        <source>margin %1, the chosen answer is preferred in %2 % of %3 held-out pairs</source>
        <translation>margen %1; la respuesta elegida se prefiere en el %2 % de %3 parejas reservadas</translation>
    </message>
    <message>
        <source>pairs of answers are compared with the start weights of a run, and this model does not have them</source>
        <translation>las parejas de respuestas se comparan con los pesos iniciales de un entrenamiento, y este modelo no los tiene</translation>
    </message>
    <message>
        <source>%1 %2 has pairs of LoRA of its own, which the reference would lack. Export it (&apos;furrowctl export --format huggingface&apos;) and start from that folder.</source>
        <translation>%1 %2 tiene pares de LoRA propios, que faltarían en la referencia. Expórtelo (&apos;furrowctl export --format huggingface&apos;) y parta de esa carpeta.</translation>
    </message>
    <message>
        <source>As many blocks are complete as %1 wants: %2. The attempt would end at once; raise it, or write 0 for no limit.</source>
        <translation>Ya están completos tantos bloques como pide %1: %2. El intento terminaría en el acto; súbalo o escriba 0 para no poner límite.</translation>
    </message>
    <message>
        <source>%1 is not there. &apos;furrowctl doctor %2&apos; says whether it can be made again; else put it back from a copy of the run.</source>
        <translation>%1 no está. «furrowctl doctor %2» dice si se puede volver a crear; si no, recupérelo de una copia de la ejecución.</translation>
    </message>
    <message>
        <source>The evaluation set %1 is damaged. &apos;furrowctl doctor %2&apos; says whether it can be made again; else copy the file from a backup, or start a new run.</source>
        <translation>El conjunto de evaluación %1 está dañado. «furrowctl doctor %2» dice si se puede volver a crear; si no, copie el archivo de una copia de seguridad o inicie una ejecución nueva.</translation>
    </message>
    <message>
        <source>SHA-256 of the manifest, also against what its children name, and who wrote it, kind, step, tokens, size, loss on held-out text and parents of each of %1 checkpoints behind the newest weights (%2 of them without weights, as the keep policy wants); and whether there are checkpoints that the tracker does not know</source>
        <translation>SHA-256 del manifiesto, también frente a lo que nombran sus hijos, y quién lo escribió, tipo, paso, tokens, tamaño, pérdida en el texto reservado y padres de cada uno de los %1 puntos de control tras los pesos más recientes (%2 de ellos sin pesos, como quiere la política de conservación); y si hay puntos de control que el registro no conoce</translation>
    </message>
    <message>
        <source>%1, the frozen weights of checkpoint %2</source>
        <translation>%1, los pesos congelados del punto de control %2</translation>
    </message>
    <message>
        <source>%1, the frozen weights of %2 checkpoints (the newest is %3)</source>
        <translation>%1, los pesos congelados de %2 puntos de control (el más reciente es %3)</translation>
    </message>
    <message>
        <source>%1, is not what was written: its size or SHA-256 differs</source>
        <translation>%1, no es lo que se escribió: su tamaño o su SHA-256 difiere</translation>
    </message>
    <message>
        <source>%1, could not be inspected: %2</source>
        <translation>%1, no se pudo inspeccionar: %2</translation>
    </message>
    <message>
        <source>Rows of trained chunks had other fingerprints of their samples than their blocks, which the source gives as they were recorded; they were taken from these (%1; the first: %2).</source>
        <translation>Había filas de fragmentos entrenados con otras huellas de sus muestras que sus bloques, que la fuente da tal como se anotaron; se tomaron de estos (%1; el primero: %2).</translation>
    </message>
    <message>
        <source>the held-out text against the data, which lie elsewhere</source>
        <translation>el texto reservado frente a los datos, que están en otro lugar</translation>
    </message>
    <message>
        <source>Setting the held-out text aside once more</source>
        <translation>Apartando de nuevo el texto reservado</translation>
    </message>
    <message>
        <source>the held-out text against the data: %1</source>
        <translation>el texto reservado frente a los datos: %1</translation>
    </message>
    <message>
        <source>the held-out text against %1, which gives another one now: nothing says what it was when the run was made</source>
        <translation>el texto reservado frente a %1, que ahora da otro: nada dice qué era cuando se creó la ejecución</translation>
    </message>
    <message>
        <source>the held-out text against the data: Furrow %1 set it aside, and this one would set another one aside</source>
        <translation>el texto reservado frente a los datos: lo apartó Furrow %1, y este apartaría otro</translation>
    </message>
    <message>
        <source>the held-out text in %1 is not what the data of the run give: it was changed together with its hash in run.json and tracker</source>
        <translation>el texto reservado de %1 no es el que dan los datos de la ejecución: se cambió junto con su hash en run.json y en el registro</translation>
    </message>
    <message>
        <source>what the data gives now is another text (its SHA-256 differs): it has changed</source>
        <translation>lo que dan ahora los datos es otro texto (su SHA-256 es distinto): han cambiado</translation>
    </message>
    <message>
        <source>%1 is gone or damaged, and cannot be made again: %2. Bring the data back as it was and repair then; or put the file back from a copy of the run: one of the same data and settings has it.</source>
        <translation>%1 falta o está dañado y no se puede volver a crear: %2. Recupere los datos como estaban y repare entonces; o recupere el archivo de una copia de la ejecución: una con los mismos datos y ajustes lo tiene.</translation>
    </message>
    <message>
        <source>%1 was gone and was made again from the data: its SHA-256 is that of the beginning.</source>
        <translation>%1 faltaba y se volvió a crear a partir de los datos: su SHA-256 es el del comienzo.</translation>
    </message>
    <message>
        <source>%1 was damaged and was made again from the data: its SHA-256 is that of the beginning. The damaged file is kept as %2.</source>
        <translation>%1 estaba dañado y se volvió a crear a partir de los datos: su SHA-256 es el del comienzo. El archivo dañado se conserva como %2.</translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 is not the one that its child %2 was made from: %3 was changed together with its row in the tracker, for checkpoint %4 was made from the child as it is</source>
        <translation>el manifiesto del punto de control %1 no es aquel del que se hizo su hijo %2: %3 se cambió junto con su fila del registro, pues el punto de control %4 se hizo del hijo tal como está</translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 is not the one that its child %2 was made from: %3 was changed together with its row in the tracker, for checkpoint %4 was made from the parent as it is</source>
        <translation>el manifiesto del punto de control %1 no es aquel del que se hizo su hijo %2: %3 se cambió junto con su fila del registro, pues el punto de control %4 se hizo del padre tal como está</translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 is not the one that its child %2 was made from: one of the two was changed together with its row in the tracker, and nothing tells which</source>
        <translation>el manifiesto del punto de control %1 no es aquel del que se hizo su hijo %2: uno de los dos se cambió junto con su fila del registro, y nada dice cuál</translation>
    </message>
    <message>
        <source>%1 is not there</source>
        <translation>%1 no está</translation>
    </message>
    <message>
        <source>%1 is of another run</source>
        <translation>%1 es de otra ejecución</translation>
    </message>
    <message>
        <source>%1 cannot be read (%2)</source>
        <translation>%1 no se puede leer (%2)</translation>
    </message>
    <message>
        <source>the manifests of newest checkpoints (%1) against the last snapshot of the tracker, which alone speaks of them too: %2</source>
        <translation>los manifiestos de los puntos de control más recientes (%1) frente a la última instantánea del registro, lo único que también habla de ellos: %2</translation>
    </message>
    <message>
        <source>%1 is older than they are, or than the tracker that was made anew</source>
        <translation>%1 es más antiguo que ellos, o que el registro que se rehízo</translation>
    </message>
    <message>
        <source>the held-out text against the data: --deep reads them too</source>
        <translation>el texto reservado frente a los datos: --deep los lee también</translation>
    </message>
    <message>
        <source>run.json against what the tracker keeps of it, the hashes of tokenizer and held-out text, and that text set aside from the data once more</source>
        <translation>run.json frente a lo que el registro guarda de él, los hashes del tokenizador y del texto reservado, y ese texto apartado de nuevo de los datos</translation>
    </message>
    <message>
        <source>Checkpoints of %1 contradict each other: %2. Nothing was changed. Put both and the tracker back from a copy of the run and resume, or go back to a checkpoint that is older than both; or &apos;furrowctl resume %3 --accept-loss&apos; goes on by the tracker alone, and &apos;furrowctl audit %4&apos; goes on saying so.</source>
        <translation>Hay puntos de control de %1 que se contradicen: %2. No se cambió nada. Reponga ambos y el registro desde una copia de la ejecución y reanude, o vuelva a un punto de control anterior a ambos; o «furrowctl resume %3 --accept-loss» continúa solo según el registro, y «furrowctl audit %4» lo seguirá diciendo.</translation>
    </message>
    <message>
        <source>%1: the fingerprints of its samples in %2 are not those that the tracker recorded; as a whole the block is what it recorded, so its row of the chunk is wrong</source>
        <translation>%1: las huellas de sus muestras en %2 no son las que anotó el registro; en conjunto el bloque es lo que anotó, así que su fila del fragmento está mal</translation>
    </message>
    <message>
        <source>With it none of the checkpoints that the tracker knows is there and whole any more: training would begin from the start weights. Chunks that it has as trained and that would be trained again: %1. &apos;%2&apos; shows it.</source>
        <translation>Con eso no queda, íntegro, ninguno de los puntos de control que conoce el registro: el entrenamiento empezaría desde los pesos iniciales. Fragmentos que da por entrenados y que se entrenarían de nuevo: %1. «%2» lo muestra.</translation>
    </message>
    <message>
        <source>With it training would begin from the start weights, for the tracker knows no checkpoint. &apos;%1&apos; shows it.</source>
        <translation>Con eso el entrenamiento empezaría desde los pesos iniciales, pues el registro no conoce ningún punto de control. «%1» lo muestra.</translation>
    </message>
    <message>
        <source>With it training would go on from %1. Chunks that the tracker has as trained and that would be trained again: %2. &apos;%3&apos; shows it.</source>
        <translation>Con eso el entrenamiento seguiría desde %1. Fragmentos que el registro da por entrenados y que se entrenarían de nuevo: %2. «%3» lo muestra.</translation>
    </message>
    <message>
        <source>%1 is not there. &apos;furrowctl doctor %2 --repair&apos; makes it again from the data where that has not changed; else put it back from a copy of the run.</source>
        <translation>%1 no está. «furrowctl doctor %2 --repair» lo vuelve a crear a partir de los datos si no han cambiado; si no, recupérelo de una copia de la ejecución.</translation>
    </message>
    <message>
        <source>%1 is not the held-out text this run began with (its SHA-256 differs): losses on it cannot be compared with those before. &apos;furrowctl doctor %2 --repair&apos; puts it aside and makes the original again from the data where that has not changed; else put that back from a copy of the run.</source>
        <translation>%1 no es el texto reservado con el que empezó esta ejecución (su SHA-256 es distinto): las pérdidas sobre él no se pueden comparar con las anteriores. «furrowctl doctor %2 --repair» lo aparta y vuelve a crear el original a partir de los datos si no han cambiado; si no, recupere el original de una copia de la ejecución.</translation>
    </message>
    <message>
        <source>Checkpoints that the tracker knows lay in %1 and were moved back: %2.</source>
        <translation>Puntos de control que conoce el registro estaban en %1 y se devolvieron a su sitio: %2.</translation>
    </message>
    <message>
        <source>The run folder holds two lines of the run. The newest checkpoints that the tracker %1 knows lie in %2, where a resume by another tracker moved them: %3. In %4 lie manifests of the other line, which it does not know: %5, the newest %6 (step %7, %8).</source>
        <translation>La carpeta contiene dos líneas de la ejecución. Los puntos de control más nuevos que conoce el registro %1 están en %2, adonde los movió una reanudación con otro registro: %3. En %4 hay manifiestos de la otra línea, que no conoce: %5, el más nuevo %6 (paso %7, %8).</translation>
    </message>
    <message>
        <source>To go on with the other line, put the tracker back that knows it. To go on with this one: &apos;furrowctl doctor %1 --repair --accept-loss&apos; moves its checkpoints back and those of the other line to checkpoints/unknown. &apos;furrowctl resume %2 --accept-loss&apos;, with a larger stopping rule where the tracker has come to its end, does so and trains on.</source>
        <translation>Para seguir con la otra línea, devuelva a su sitio el registro que la conoce. Para seguir con esta: «furrowctl doctor %1 --repair --accept-loss» devuelve sus puntos de control a su sitio y mueve los de la otra línea a checkpoints/unknown. «furrowctl resume %2 --accept-loss», con una regla de parada mayor si el registro ha llegado a su fin, hace lo mismo y sigue entrenando.</translation>
    </message>
    <message>
        <source>&apos;furrowctl doctor %1 --repair&apos; takes them into the tracker where they belong together; &apos;furrowctl resume %2 --accept-loss&apos; gives them up, moves them to checkpoints/unknown, and goes on from what is there of the checkpoints that the tracker knows.</source>
        <translation>«furrowctl doctor %1 --repair» los incorpora al registro si van juntos; «furrowctl resume %2 --accept-loss» renuncia a ellos, los mueve a checkpoints/unknown y sigue desde lo que hay de los puntos de control que conoce el registro.</translation>
    </message>
    <message>
        <source>&apos;furrowctl doctor %1 --repair&apos; takes the tracker forward from the manifests; &apos;furrowctl resume %2 --accept-loss&apos; gives them up, moves them to checkpoints/unknown, and goes on from what is there of the checkpoints that the tracker knows.</source>
        <translation>«furrowctl doctor %1 --repair» actualiza el registro a partir de los manifiestos; «furrowctl resume %2 --accept-loss» renuncia a ellos, los mueve a checkpoints/unknown y sigue desde lo que hay de los puntos de control que conoce el registro.</translation>
    </message>
    <message>
        <source>&apos;furrowctl resume %1 --accept-loss&apos; goes on from what is there of the checkpoints that the tracker knows.</source>
        <translation>«furrowctl resume %1 --accept-loss» sigue desde lo que hay de los puntos de control que conoce el registro.</translation>
    </message>
    <message>
        <source>of a chunk how often its training was lost or failed; and, unless its prepared block is there, before it is trained the fingerprint of its samples and, where they do not lie end to end, into how many windows and tokens it packs</source>
        <translation>de un fragmento, cuántas veces se perdió o falló su entrenamiento; y, salvo que su bloque preparado esté ahí, antes de entrenarlo la huella de sus muestras y, donde no van una tras otra, en cuántas ventanas y tokens se empaqueta</translation>
    </message>
    <message>
        <source>the objectives differ, so losses cannot be compared</source>
        <translation>los objetivos son distintos, así que las pérdidas no se pueden comparar</translation>
    </message>
    <message>
        <source>nats per pair</source>
        <translation>nats por par</translation>
    </message>
    <message>
        <source>nats per token</source>
        <translation>nats por token</translation>
    </message>
    <message>
        <source>%1 and %2 have different objectives: their losses, %3 and %4, say nothing of each other.</source>
        <translation>%1 y %2 tienen objetivos distintos: sus pérdidas, %3 y %4, no dicen nada la una de la otra.</translation>
    </message>
</context>
<context>
    <name>CurvesLayer</name>
    <message>
        <source>%1 off scale</source>
        <translation>%1 fuera de escala</translation>
    </message>
</context>
<context>
    <name>ErrorText</name>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>Something is missing.</source>
        <translation>Falta algo.</translation>
    </message>
    <message>
        <source>A file is damaged.</source>
        <translation>Un archivo está dañado.</translation>
    </message>
    <message>
        <source>Disk error.</source>
        <translation>Error de disco.</translation>
    </message>
    <message>
        <source>Network error.</source>
        <translation>Error de red.</translation>
    </message>
    <message>
        <source>Another process is using it.</source>
        <translation>Otro proceso lo está usando.</translation>
    </message>
    <message>
        <source>Cancelled.</source>
        <translation>Cancelado.</translation>
    </message>
    <message>
        <source>This is a bug in Furrow.</source>
        <translation>Es un fallo de Furrow.</translation>
    </message>
    <message>
        <source>Not allowed.</source>
        <translation>No permitido.</translation>
    </message>
</context>
<context>
    <name>FormField</name>
    <message>
        <source>%1: %2 can be read in two ways. Write %3 or %4.</source>
        <translation>%1: %2 se puede leer de dos maneras. Escriba %3 o %4.</translation>
    </message>
    <message>
        <source>%1 must be a whole number, and %2 is not read as one here. Write %3.</source>
        <translation>%1 debe ser un número entero, y %2 no se lee aquí como tal. Escriba %3.</translation>
    </message>
    <message>
        <source>%1 must be a number, and %2 is not one here. Write %3.</source>
        <translation>%1 debe ser un número, y %2 no lo es aquí. Escriba %3.</translation>
    </message>
    <message>
        <source>%1 must be a whole number of %2 or more.</source>
        <translation>%1 debe ser un entero de %2 o más.</translation>
    </message>
    <message>
        <source>%1 must be a number of %2 or more.</source>
        <translation>%1 debe ser %2 o más.</translation>
    </message>
    <message>
        <source>%1 must be a whole number from %2 to %3.</source>
        <translation>%1 debe ser un entero de %2 a %3.</translation>
    </message>
    <message>
        <source>%1 must be a number from %2 to %3.</source>
        <translation>%1 debe ser de %2 a %3.</translation>
    </message>
</context>
<context>
    <name>Help</name>
    <message>
        <source>First steps</source>
        <translation>Primeros pasos</translation>
    </message>
    <message>
        <source>Chunk, block, batch and context</source>
        <translation>Fragmento, bloque, lote y contexto</translation>
    </message>
    <message>
        <source>Why does this say “interrupted”?</source>
        <translation>¿Por qué dice «interrumpida»?</translation>
    </message>
    <message>
        <source>What a resume does</source>
        <translation>Qué hace reanudar</translation>
    </message>
    <message>
        <source>Reading the coverage map</source>
        <translation>Leer el mapa de cobertura</translation>
    </message>
    <message>
        <source>Workers, replicas and merges</source>
        <translation>Trabajadores, réplicas y fusiones</translation>
    </message>
    <message>
        <source>What the words mean</source>
        <translation>Qué significan las palabras</translation>
    </message>
    <message>
        <source>What each setting does</source>
        <translation>Qué hace cada ajuste</translation>
    </message>
    <message>
        <source>Sample</source>
        <translation>Muestra</translation>
    </message>
    <message>
        <source>Chunk</source>
        <translation>Fragmento</translation>
    </message>
    <message>
        <source>Block</source>
        <translation>Bloque</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>Lote</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Contexto</translation>
    </message>
    <message>
        <source>Epoch</source>
        <translation>Época</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Ejecución</translation>
    </message>
    <message>
        <source>Attempt</source>
        <translation>Intento</translation>
    </message>
    <message>
        <source>Worker</source>
        <translation>Trabajador</translation>
    </message>
    <message>
        <source>Committed</source>
        <translation>Confirmados</translation>
    </message>
    <message>
        <source>Poisoned</source>
        <translation>Envenenados</translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation>Interrumpida</translation>
    </message>
    <message>
        <source>Merge</source>
        <translation>Fusión</translation>
    </message>
    <message>
        <source>may change on a resume</source>
        <translation>puede cambiar al reanudar</translation>
    </message>
    <message>
        <source>may change, but curves before and after cannot be compared</source>
        <translation>puede cambiar, pero las curvas de antes y después no se pueden comparar</translation>
    </message>
    <message>
        <source>fixed: another value needs a new run</source>
        <translation>fijo: otro valor necesita una ejecución nueva</translation>
    </message>
    <message>
        <source>“Start demonstration run” trains a small model on a text that comes with Furrow, on the CPU. Watch the loss fall, stop it, resume it.</source>
        <translation>«Iniciar ejecución de demostración» entrena en la CPU un modelo pequeño con un texto incluido en Furrow. Vea bajar la pérdida, detenga la ejecución y reanúdela.</translation>
    </message>
    <message>
        <source>For a run of your own press Ctrl+N, then choose a preset and your files. Mistakes are named beside their field, with the fix as a button. Launch starts at once, Queue waits until the devices are free.</source>
        <translation>Para una ejecución propia pulse Ctrl+N y elija un preajuste y sus archivos. Lo que está mal se indica junto a su campo, con el arreglo como botón. Lanzar empieza ya, Cola espera a que los dispositivos estén libres.</translation>
    </message>
    <message>
        <source>Closing this window never touches training. Open it again and it shows what happened in the meantime.</source>
        <translation>Cerrar esta ventana no toca ningún entrenamiento. Ábrala de nuevo y mostrará lo que pasó mientras tanto.</translation>
    </message>
    <message>
        <source>Ctrl+K finds every command, Ctrl+/ shows all shortcuts.</source>
        <translation>Ctrl+K encuentra cualquier orden, Ctrl+/ muestra todos los atajos.</translation>
    </message>
    <message>
        <source>A &lt;b&gt;sample&lt;/b&gt; is one text from your data. A &lt;b&gt;chunk&lt;/b&gt; is what one worker claims at a time, a few thousand samples. A &lt;b&gt;block&lt;/b&gt; is several chunks that are fetched, cleaned and cut into tokens together.</source>
        <translation>Una &lt;b&gt;muestra&lt;/b&gt; es un texto de sus datos. Un &lt;b&gt;fragmento&lt;/b&gt; es lo que un trabajador reserva cada vez, unos miles de muestras. Un &lt;b&gt;bloque&lt;/b&gt; son varios fragmentos que se descargan, se limpian y se dividen en tokens juntos.</translation>
    </message>
    <message>
        <source>The &lt;b&gt;context&lt;/b&gt; is how many tokens the model sees at once, the &lt;b&gt;batch&lt;/b&gt; how many such windows go through it in one step.</source>
        <translation>El &lt;b&gt;contexto&lt;/b&gt; es cuántos tokens ve el modelo a la vez; el &lt;b&gt;lote&lt;/b&gt;, cuántas de esas ventanas pasan en un paso.</translation>
    </message>
    <message>
        <source>GPU memory depends on batch and context (and on the model). It does not depend on the size of chunks: a chunk is only read piece by piece. Small chunks take a little time to claim; with large chunks a crash between two checkpoints costs more work, and one bad text marks more of its neighbours.</source>
        <translation>La memoria de la GPU depende del lote y del contexto (y del modelo). No depende del tamaño de los fragmentos: un fragmento se lee por partes. Los fragmentos pequeños cuestan algo de tiempo al reservarlos; con fragmentos grandes una caída entre dos puntos de control cuesta más trabajo, y un texto malo marca a más vecinos.</translation>
    </message>
    <message>
        <source>The state of a run is never stored. It is worked out each time from what can be seen: is the supervisor process alive, when did it last write, did it record why it ended?</source>
        <translation>El estado de una ejecución nunca se guarda. Cada vez se deduce de lo que se ve: si el proceso supervisor está vivo, cuándo escribió por última vez, si anotó por qué acabó.</translation>
    </message>
    <message>
        <source>“Interrupted” means: no process of the run is alive and none recorded an end. The computer was switched off or restarted, or the processes were killed. “Why?” beside the state shows the evidence.</source>
        <translation>«Interrumpida» significa: ningún proceso de la ejecución está vivo y ninguno anotó un final. El equipo se apagó o reinició, o se forzó el cierre de los procesos. «¿Por qué?» junto al estado muestra las pruebas.</translation>
    </message>
    <message>
        <source>Nothing is broken. What is in a checkpoint is kept; what was trained after it is trained again.</source>
        <translation>Entonces no hay nada roto. Lo que está en un punto de control queda, lo entrenado después se entrena de nuevo.</translation>
    </message>
    <message>
        <source>“Resume…” first shows a dry run: how many chunks are kept, trained again or free, and every checkpoint with the result of checking its files. Nothing changes until you confirm.</source>
        <translation>«Reanudar…» muestra primero un ensayo: cuántos fragmentos se conservan, se entrenan de nuevo o están libres, y cada punto de control con la comprobación de sus archivos. Nada cambia hasta que confirme.</translation>
    </message>
    <message>
        <source>The run goes on as a new attempt in the same folder. You may change devices, number of workers and stopping rules; what would change the chunks or the weights is refused by name.</source>
        <translation>La ejecución sigue como un intento nuevo en la misma carpeta. Puede cambiar dispositivos, número de trabajadores y reglas de parada; lo que cambiaría los fragmentos o los pesos se rechaza, y se dice qué es.</translation>
    </message>
    <message>
        <source>Each row is a block, each cell a chunk. The line at its lower edge says committed, the notch at the upper right trained but not in a checkpoint yet, hatching that its work was lost and comes again.</source>
        <translation>Cada fila es un bloque, cada celda un fragmento. La línea en el borde inferior dice confirmado; la muesca arriba a la derecha, entrenado pero aún sin punto de control; el rayado, que su trabajo se perdió y se repite.</translation>
    </message>
    <message>
        <source>By default the colour is the loss above or below the trend of the run, since the loss itself only shows when a chunk was trained. Cells that stand out hold unusual text: drag over them and read their samples.</source>
        <translation>Por defecto el color es la pérdida por encima o por debajo de la tendencia, pues la pérdida misma solo muestra cuándo se entrenó un fragmento. Las celdas que destacan tienen texto inusual: arrastre sobre ellas y lea sus muestras.</translation>
    </message>
    <message>
        <source>Ctrl and wheel zooms, the arrows move, Enter opens the samples. “Table” shows the same as numbers.</source>
        <translation>Ctrl y la rueda amplían, las flechas desplazan, Intro abre las muestras. «Tabla» muestra lo mismo en números.</translation>
    </message>
    <message>
        <source>Each worker trains its own copy of the model, a replica, on its own chunks. From time to time, and at the end, the replicas are merged: their weights are averaged by the tokens they trained.</source>
        <translation>Cada trabajador entrena su propia copia del modelo, una réplica, con sus propios fragmentos. De vez en cuando, y al final, las réplicas se fusionan: sus pesos se promedian según los tokens que entrenaron.</translation>
    </message>
    <message>
        <source>“Start from” offers older checkpoints too. What is newer then leaves the weights, and its chunks are trained again, once: the map and the counts show the cost before anything happens.</source>
        <translation>«Partir de» ofrece también puntos de control anteriores. Lo más reciente sale entonces de los pesos y sus fragmentos se entrenan otra vez, una sola: el mapa y las cuentas muestran el coste antes de que ocurra nada.</translation>
    </message>
    <message>
        <source>A run that you do not want to continue can be marked as finished; it can still be resumed later. A run can also resume by itself after an interruption, if you say so in the dialog or in the Run menu.</source>
        <translation>Una ejecución que no debe seguir puede marcarse como terminada; aún se puede reanudar después. También puede reanudarse por sí misma tras una interrupción, si usted lo indica en el diálogo o en el menú Ejecución.</translation>
    </message>
    <message>
        <source>A checkpoint that is damaged, or on a disk that is not mounted, is never given up without your consent: bring it back and resume, or tick the box that says how many chunks are trained again.</source>
        <translation>Un punto de control dañado, o en un disco que no está montado, nunca se abandona sin su consentimiento: recupérelo y reanude, o marque la casilla que dice cuántos fragmentos se entrenan de nuevo.</translation>
    </message>
    <message>
        <source>A chunk counts as trained once when it is in one replica before a merge, or in the merged weights after it. “Chunks twice or missing” proves it from the ledger at any time.</source>
        <translation>Un fragmento cuenta como entrenado una vez cuando está en una réplica antes de una fusión, o en los pesos fusionados después. «Fragmentos repetidos o ausentes» lo prueba con el registro en cualquier momento.</translation>
    </message>
    <message>
        <source>“Cannot be read” means: the folder was moved or deleted, its disk is not mounted, or a newer Furrow made it. What was last read stays on screen with its time, and nothing can be done with the run until the folder is back.</source>
        <translation>«No se puede leer» significa: la carpeta se movió o se borró, su disco no está montado, o la hizo un Furrow más reciente. Lo último que se leyó sigue a la vista con su hora, y no se puede hacer nada con la ejecución hasta que la carpeta vuelva.</translation>
    </message>
    <message>
        <source>Where several epochs are open, or are opened again, a table says for each how many chunks are kept and how many are trained again.</source>
        <translation>Cuando hay varias épocas abiertas, o se vuelven a abrir, una tabla dice de cada una cuántos fragmentos se conservan y cuántos se repiten.</translation>
    </message>
    <message>
        <source>The page “Chat” talks with the model while it trains: the newest checkpoint answers, or two of them side by side. It uses one CPU thread while the run trains.</source>
        <translation>La página «Chat» habla con el modelo mientras entrena: responde el punto de control más reciente, o dos de ellos uno al lado del otro. Mientras la ejecución entrena usa un hilo de la CPU.</translation>
    </message>
    <message>
        <source>Your data</source>
        <translation>Sus datos</translation>
    </message>
    <message>
        <source>A &lt;b&gt;source&lt;/b&gt; is a file, a folder, a pattern such as texts/*.txt, or an address (hf://, https://, s3://, gs://). Separate several with commas; put a name with a comma in it in double quotes. What of a folder is left out is named below the field.</source>
        <translation>Una &lt;b&gt;fuente&lt;/b&gt; es un archivo, una carpeta, un patrón como texts/*.txt o una dirección (hf://, https://, s3://, gs://). Varias se separan con comas; un nombre que contiene una coma va entre comillas dobles. Lo que se deja fuera de una carpeta se nombra debajo del campo.</translation>
    </message>
    <message>
        <source>&lt;b&gt;Formats&lt;/b&gt;: txt, csv, tsv, jsonl, json, parquet, arrow, warc and WebDataset, also compressed (.gz, .zst, .xz, .bz2) and in .zip and .tar. A Word, Excel or PDF file is none of them: save it as plain text or csv.</source>
        <translation>&lt;b&gt;Formatos&lt;/b&gt;: txt, csv, tsv, jsonl, json, parquet, arrow, warc y WebDataset, también comprimidos (.gz, .zst, .xz, .bz2) y dentro de .zip y .tar. Un archivo de Word, Excel o PDF no es ninguno de ellos: guárdelo como texto sin formato o csv.</translation>
    </message>
    <message>
        <source>&lt;b&gt;Columns&lt;/b&gt;: one column is trained. A usual name is taken (text, txt, content, sentence, document, article, body, also as the last part of a nested name, meta.text), else the column with the most text. The form says which one it is and why, and offers the others. All files of one source have the same column.</source>
        <translation>&lt;b&gt;Columnas&lt;/b&gt;: se entrena una columna. Se toma un nombre usual (text, txt, content, sentence, document, article, body, también como última parte de un nombre anidado, meta.text); si no, la columna con más texto. El formulario dice cuál es y por qué, y ofrece las demás. Todos los archivos de una fuente tienen la misma columna.</translation>
    </message>
    <message>
        <source>&lt;b&gt;Encodings&lt;/b&gt; such as UTF-16 or Windows-1252 are found from the bytes and said; so are the delimiter and the quotes of csv. The settings “Encoding” and “CSV …” name the right one where that is wrong.</source>
        <translation>Las &lt;b&gt;codificaciones&lt;/b&gt; como UTF-16 o Windows-1252 se reconocen por los bytes y se indican, igual que el delimitador y las comillas de csv. Los ajustes de codificación y de CSV permiten indicar la correcta cuando eso falla.</translation>
    </message>
    <message>
        <source>&lt;b&gt;Conversations&lt;/b&gt; (messages, ShareGPT, Alpaca, prompt and completion) are trained as such when there is a chat template: it writes them, and only the answers are learnt, which stand between « and » in the form. Without one they are plain text.</source>
        <translation>Las &lt;b&gt;conversaciones&lt;/b&gt; (messages, ShareGPT, Alpaca, prompt y completion) se entrenan como tales cuando hay una plantilla de chat: ella las escribe y solo se aprenden las respuestas, que en el formulario van entre « y ». Sin plantilla son texto sin formato.</translation>
    </message>
    <message>
        <source>&lt;b&gt;Rows&lt;/b&gt; count from 0: row 0 of jsonl is line 1, row 0 of csv the first one below the names of the columns. A row that cannot be read is left out and counted, and the first one is named; the samples of a chunk name the others. Rows that are empty or too short are filtered. When more rows cannot be read than &lt;code&gt;max_unreadable_percent&lt;/code&gt; allows, and at least ten, the run stops.</source>
        <translation>Las &lt;b&gt;filas&lt;/b&gt; se cuentan desde 0: la fila 0 de jsonl es la línea 1, la fila 0 de csv la primera debajo de los nombres de las columnas. Una fila que no se puede leer se deja fuera y se cuenta, y se nombra la primera; las muestras de un fragmento nombran las demás. Las filas vacías o demasiado cortas se filtran. Cuando las filas que no se pueden leer superan lo que permite &lt;code&gt;max_unreadable_percent&lt;/code&gt; y son al menos diez, la ejecución se detiene.</translation>
    </message>
    <message>
        <source>&lt;b&gt;Changed and removed files&lt;/b&gt;: a file that is not any more what it was when the run was made stops the run, or what of it is not prepared yet is left out by name, as &lt;code&gt;bad_files&lt;/code&gt; says. It may be changed on a resume, and so may max_unreadable_percent.</source>
        <translation>&lt;b&gt;Archivos cambiados y borrados&lt;/b&gt;: un archivo que ya no es lo que era cuando se creó la ejecución la detiene, o lo que de él aún no está preparado se deja fuera, con su nombre, según &lt;code&gt;bad_files&lt;/code&gt;. Este ajuste se puede cambiar al reanudar, igual que max_unreadable_percent.</translation>
    </message>
    <message>
        <source>&lt;b&gt;Repeats&lt;/b&gt;: with &lt;code&gt;duplicates&lt;/code&gt; set to skip only the first of equal texts is trained; else all are trained and counted.</source>
        <translation>&lt;b&gt;Repeticiones&lt;/b&gt;: con &lt;code&gt;duplicates&lt;/code&gt; en skip solo se entrena el primero de los textos iguales; si no, se entrenan y cuentan todos.</translation>
    </message>
    <message>
        <source>Private training</source>
        <translation>Entrenamiento privado</translation>
    </message>
    <message>
        <source>&lt;code&gt;clip_per_sample&lt;/code&gt; bounds what one window, or one sample, may do to the weights in a step. With &lt;code&gt;noise_multiplier&lt;/code&gt; each step adds normal noise of that many times the bound, and what the weights can tell of one unit is limited: epsilon at delta.</source>
        <translation>&lt;code&gt;clip_per_sample&lt;/code&gt; acota lo que una ventana, o una muestra, puede hacer a los pesos en un paso. Con &lt;code&gt;noise_multiplier&lt;/code&gt; cada paso añade ruido normal de tantas veces esa cota, y lo que los pesos pueden revelar de una unidad queda limitado: épsilon con delta.</translation>
    </message>
    <message>
        <source>Epsilon follows from how often a unit took part, which the ledger counts: once an epoch, and once more for each training that was lost with its weights. No chance of being drawn is assumed. The audit states it, with the unit, what neighbours are, and what the guarantee does not speak of: losses and samples that the run shows, the held-out text, the tokenizer, the seed of the noise.</source>
        <translation>Épsilon resulta de cuántas veces participó una unidad, lo que cuenta el registro: una vez por época, y una más por cada entrenamiento que se perdió con sus pesos. No se supone ninguna probabilidad de sorteo. La auditoría lo indica, junto con la unidad, qué se entiende por ejecuciones vecinas y qué no cubre la garantía: pérdidas y muestras que la ejecución muestra, el texto reservado, el tokenizador, la semilla del ruido.</translation>
    </message>
    <message>
        <source>Rows are units with &lt;code&gt;privacy_unit&lt;/code&gt; sample: then &lt;code&gt;packing&lt;/code&gt; is single, and a row that is too long is cut or left out. &lt;code&gt;target_epsilon&lt;/code&gt; ends the run before a unit takes part once too often. Large steps help: the same noise is shared by more windows.</source>
        <translation>Las filas son unidades con &lt;code&gt;privacy_unit&lt;/code&gt; sample: entonces &lt;code&gt;packing&lt;/code&gt; es single, y una fila demasiado larga se corta o se omite. &lt;code&gt;target_epsilon&lt;/code&gt; termina la ejecución antes de que una unidad participe una vez de más. Los pasos grandes ayudan: más ventanas comparten el mismo ruido.</translation>
    </message>
    <message>
        <source>DiLoCo makes an outer step from that average, which looks ahead for training that goes on. Its last round keeps whichever evaluates better, the outer step or the plain average. A single replica is never kept, even where it evaluates better alone: its weights lack what the others trained.</source>
        <translation>DiLoCo da a partir de ese promedio un paso exterior, que mira hacia delante para un entrenamiento que continúa. Su última ronda conserva lo que evalúa mejor, el paso exterior o el promedio simple. Nunca se conserva una réplica sola, aunque por sí sola evalúe mejor: a sus pesos les falta lo que entrenaron las demás.</translation>
    </message>
    <message>
        <source>&lt;b&gt;Tokens per second&lt;/b&gt; of a worker are all tokens of its steps over all the time they took: a wait for data counts, a pause, an evaluation, a merge and a restart do not. Workers add up, in the chart as on the overview. “Kept tokens per active second” go by the whole active time instead.</source>
        <translation>Los &lt;b&gt;tokens por segundo&lt;/b&gt; de un trabajador son todos los tokens de sus pasos divididos por todo el tiempo que duraron: cuenta la espera de datos, pero no una pausa, una evaluación, una fusión ni un reinicio. Los trabajadores se suman, en el gráfico igual que en el resumen. En cambio, los «tokens conservados por segundo activo» se calculan con todo el tiempo activo.</translation>
    </message>
</context>
<context>
    <name>LibraryTable</name>
    <message>
        <source>Run</source>
        <translation>Ejecución</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Estado</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Pérdida</translation>
    </message>
    <message>
        <source>Eval loss</source>
        <translation>Pérdida de evaluación</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Pasos</translation>
    </message>
    <message>
        <source>Active time</source>
        <translation>Tiempo activo</translation>
    </message>
    <message>
        <source>Attempts</source>
        <translation>Intentos</translation>
    </message>
    <message>
        <source>Made</source>
        <translation>Creada</translation>
    </message>
    <message>
        <source>Group</source>
        <translation>Grupo</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>Etiquetas</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Preajuste</translation>
    </message>
    <message>
        <source>Chunks committed, latest epochs</source>
        <translation>Fragmentos confirmados, épocas más recientes</translation>
    </message>
    <message>
        <source>Epochs complete</source>
        <translation>Épocas completas</translation>
    </message>
    <message>
        <source>Kept tokens per active second</source>
        <translation>Tokens conservados por segundo activo</translation>
    </message>
</context>
<context>
    <name>NewRunPage</name>
    <message>
        <source>Set to %1</source>
        <translation>Poner %1</translation>
    </message>
</context>
<context>
    <name>Overflow</name>
    <message>
        <source>More commands</source>
        <translation>Más órdenes</translation>
    </message>
</context>
<context>
    <name>QPlainTextEdit</name>
    <message>
        <source>This token: %1</source>
        <translation>Este token: %1</translation>
    </message>
</context>
<context>
    <name>QueueDock</name>
    <message>
        <source>waiting</source>
        <translation>en espera</translation>
    </message>
    <message>
        <source>in training</source>
        <translation>en entrenamiento</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>Every GPU</source>
        <translation>Todas las GPU</translation>
    </message>
    <message>
        <source>GPU %1</source>
        <translation>GPU %1</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>Cola</translation>
    </message>
    <message>
        <source>Device and run</source>
        <translation>Dispositivo y ejecución</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Estado</translation>
    </message>
    <message numerus="yes">
        <source>%1, needs %n device(s)</source>
        <translation>
            <numerusform>%1, necesita %n dispositivo</numerusform>
            <numerusform>%1, necesita %n dispositivos</numerusform>
        </translation>
    </message>
    <message>
        <source>left the queue: %1</source>
        <translation>salió de la cola: %1</translation>
    </message>
</context>
<context>
    <name>Replay</name>
    <message>
        <source>As it was at %1, from the ledger and the telemetry.</source>
        <translation>Como estaba entonces (%1), según el registro y la telemetría.</translation>
    </message>
</context>
<context>
    <name>RunBanner</name>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>No checkpoint has been written yet: a resume starts from the beginning.</source>
        <translation>Aún no se ha escrito ningún punto de control: al reanudar se empieza de nuevo.</translation>
    </message>
    <message>
        <source>Checkpoints hold %1 of %2 chunks of %3; the newest is from %4.</source>
        <translation>Los puntos de control contienen %1 de %2 fragmentos de %3; el más reciente es de %4.</translation>
    </message>
    <message>
        <source>No whole checkpoint is left: a resume starts from the beginning.</source>
        <translation>No queda ningún punto de control íntegro: al reanudar se empieza desde el principio.</translation>
    </message>
</context>
<context>
    <name>RunReport</name>
    <message>
        <source>State</source>
        <translation>Estado</translation>
    </message>
    <message>
        <source>Attempts</source>
        <translation>Intentos</translation>
    </message>
    <message>
        <source>Optimiser steps</source>
        <translation>Pasos del optimizador</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>Active time</source>
        <translation>Tiempo activo</translation>
    </message>
    <message>
        <source>Training loss</source>
        <translation>Pérdida de entrenamiento</translation>
    </message>
    <message>
        <source>Loss on held-out text</source>
        <translation>Pérdida en el texto reservado</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>Puntos de control</translation>
    </message>
    <message>
        <source>Curves</source>
        <translation>Curvas</translation>
    </message>
    <message>
        <source>Attempt %1: %2 → %3</source>
        <translation>Intento %1: %2 → %3</translation>
    </message>
    <message>
        <source>Settings in force that differ from the preset %1</source>
        <translation>Ajustes en vigor que difieren del preajuste %1</translation>
    </message>
    <message>
        <source>Settings in force</source>
        <translation>Ajustes en vigor</translation>
    </message>
    <message>
        <source>Setting</source>
        <translation>Ajuste</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Preajuste</translation>
    </message>
    <message>
        <source>In force</source>
        <translation>En vigor</translation>
    </message>
    <message>
        <source>Changed by a resume</source>
        <translation>Cambiado al reanudar</translation>
    </message>
    <message>
        <source>Rows that cannot be read</source>
        <translation>Filas que no se pueden leer</translation>
    </message>
    <message>
        <source>Rows filtered</source>
        <translation>Filas filtradas</translation>
    </message>
    <message>
        <source>Chunks that cannot be read</source>
        <translation>Fragmentos que no se pueden leer</translation>
    </message>
    <message>
        <source>Samples left out as repeats</source>
        <translation>Muestras omitidas por repetidas</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>Datos</translation>
    </message>
    <message>
        <source>Right answers</source>
        <translation>Respuestas correctas</translation>
    </message>
    <message>
        <source>Samples left out, their steps were not finite</source>
        <translation>Muestras omitidas, sus pasos no eran finitos</translation>
    </message>
</context>
<context>
    <name>SamplingFields</name>
    <message>
        <source>0 always takes the likeliest token; above 1 the text becomes wilder</source>
        <translation>0 toma siempre el token más probable; por encima de 1 el texto es más libre</translation>
    </message>
    <message>
        <source>all</source>
        <translation>todos</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatura</translation>
    </message>
    <message>
        <source>Among the likeliest (top-k)</source>
        <translation>Entre los más probables (top-k)</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Semilla</translation>
    </message>
</context>
<context>
    <name>SaveFile</name>
    <message>
        <source>Replace file</source>
        <translation>Reemplazar archivo</translation>
    </message>
    <message>
        <source>%1 is a folder. Write the name of a file.</source>
        <translation>%1 es una carpeta. Escriba el nombre de un archivo.</translation>
    </message>
    <message>
        <source>%1 exists already. Replace it?</source>
        <translation>%1 ya existe. ¿Reemplazarlo?</translation>
    </message>
    <message>
        <source>What it holds now is lost.</source>
        <translation>Lo que contiene ahora se pierde.</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>Reemplazar</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
    <message>
        <source>No, keep it</source>
        <translation>No, conservarlo</translation>
    </message>
</context>
<context>
    <name>Schema</name>
    <message>
        <source>Name</source>
        <translation>Nombre</translation>
    </message>
    <message>
        <source>What the run is called in the library and in its folder name. Empty: made from preset and data.</source>
        <translation>Cómo se llama la ejecución en la biblioteca y en el nombre de su carpeta. Vacío: se forma con preajuste y datos.</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>Fuente</translation>
    </message>
    <message>
        <source>Rows from</source>
        <translation>Filas de</translation>
    </message>
    <message>
        <source>What a sample of a plain text file is: a line, a paragraph between blank lines, or a span of span_bytes with newlines kept. &apos;stream&apos; takes random windows of one file and keeps no ledger; it exists for comparisons with other programs. &apos;auto&apos; is lines.</source>
        <translation>Qué es una muestra de un archivo de texto: una línea, un párrafo entre líneas vacías o un tramo de span_bytes con los saltos de línea. «stream» toma ventanas al azar de un archivo y no lleva registro; existe para comparar con otros programas. «auto» son líneas.</translation>
    </message>
    <message>
        <source>Text column</source>
        <translation>Columna de texto</translation>
    </message>
    <message>
        <source>Tokenizer</source>
        <translation>Tokenizador</translation>
    </message>
    <message>
        <source>Samples per block</source>
        <translation>Muestras por bloque</translation>
    </message>
    <message>
        <source>samples</source>
        <translation>muestras</translation>
    </message>
    <message>
        <source>Consecutive samples that are prepared as one unit. Lowered by itself for small data, so that there are some blocks to shuffle.</source>
        <translation>Muestras consecutivas que se preparan como una unidad. Se reduce solo con datos pequeños, para que haya bloques que barajar.</translation>
    </message>
    <message>
        <source>Chunk size</source>
        <translation>Tamaño de fragmento</translation>
    </message>
    <message>
        <source>Samples that one worker claims at a time. It does not change GPU memory: batch size times sequence length does.</source>
        <translation>Muestras que un trabajador reserva de una vez. No cambia la memoria de GPU: eso lo hace el lote por la longitud de secuencia.</translation>
    </message>
    <message>
        <source>Chunk size, at most</source>
        <translation>Tamaño de fragmento, máximo</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>bytes</translation>
    </message>
    <message>
        <source>A chunk ends early when its text would become larger than this.</source>
        <translation>Un fragmento termina antes si su texto superaría este tamaño.</translation>
    </message>
    <message>
        <source>Span</source>
        <translation>Tramo</translation>
    </message>
    <message>
        <source>Length of a sample in data mode span.</source>
        <translation>Longitud de una muestra en el modo de datos span.</translation>
    </message>
    <message>
        <source>Held out</source>
        <translation>Reservado</translation>
    </message>
    <message>
        <source>%</source>
        <translation>%</translation>
    </message>
    <message>
        <source>Share of the samples kept for evaluation, chosen by a hash of their text, so that equal texts fall on the same side.</source>
        <translation>Parte de las muestras que se guarda para evaluar, elegida por un hash de su texto, de modo que textos iguales caen del mismo lado.</translation>
    </message>
    <message>
        <source>Shortest sample</source>
        <translation>Muestra más corta</translation>
    </message>
    <message>
        <source>characters</source>
        <translation>caracteres</translation>
    </message>
    <message>
        <source>Shorter samples are filtered, counted and never trained.</source>
        <translation>Las muestras más cortas se filtran, se cuentan y nunca se entrenan.</translation>
    </message>
    <message>
        <source>Longest sample</source>
        <translation>Muestra más larga</translation>
    </message>
    <message>
        <source>ASCII only</source>
        <translation>Solo ASCII</translation>
    </message>
    <message>
        <source>Filter samples with any other character.</source>
        <translation>Filtrar muestras con cualquier otro carácter.</translation>
    </message>
    <message>
        <source>Duplicate texts</source>
        <translation>Textos duplicados</translation>
    </message>
    <message>
        <source>report: texts that occur again are trained, and counted inside a block. skip: of equal texts in the whole data set only the first one is trained, the others are counted and left out. For that all data is read once before training begins; what comes from the hub is downloaded then, and once more where the cache is too small to keep it.</source>
        <translation>report: los textos que se repiten se entrenan, y se cuentan dentro de un bloque. skip: de los textos iguales de todo el conjunto de datos solo se entrena el primero; los demás se cuentan y se omiten. Para ello se leen todos los datos una vez antes de empezar a entrenar; lo que viene del hub se descarga entonces, y otra vez si la caché es demasiado pequeña para conservarlo.</translation>
    </message>
    <message>
        <source>Shuffle</source>
        <translation>Barajar</translation>
    </message>
    <message>
        <source>Claim chunks in an order drawn from seed and epoch; off: in source order.</source>
        <translation>Reservar fragmentos en un orden sorteado con semilla y época; desactivado: en el orden de la fuente.</translation>
    </message>
    <message>
        <source>Shuffle window</source>
        <translation>Ventana de barajado</translation>
    </message>
    <message>
        <source>blocks</source>
        <translation>bloques</translation>
    </message>
    <message>
        <source>Chunks are shuffled inside groups of this many blocks: consecutive ones in the first epoch, blocks from anywhere in later ones. About two groups are kept prepared. From 24 on the order mixes within 5 % of a full shuffle.</source>
        <translation>Los fragmentos se barajan dentro de grupos de este número de bloques: consecutivos en la primera época, de cualquier lugar en las siguientes. Se mantienen preparados unos dos grupos. Desde 24, el orden mezcla casi como un barajado completo (diferencia menor del 5 %).</translation>
    </message>
    <message>
        <source>First sample</source>
        <translation>Primera muestra</translation>
    </message>
    <message>
        <source>Skip this many samples at the start of each source (of its fraction). They do not belong to the epoch.</source>
        <translation>Saltar este número de muestras al principio de cada fuente (de su fracción). No pertenecen a la época.</translation>
    </message>
    <message>
        <source>Samples, at most</source>
        <translation>Muestras, máximo</translation>
    </message>
    <message>
        <source>Fraction</source>
        <translation>Fracción</translation>
    </message>
    <message>
        <source>Use only this share of each source, drawn with the seed: row by row in small files, else in stretches (row groups of Parquet, 64 KiB of text of the hub), so that the rest need not be read or downloaded.</source>
        <translation>Usar solo esta parte de cada fuente, sorteada con la semilla: fila por fila en archivos pequeños; si no, por tramos (grupos de filas de Parquet, 64 KiB de texto del hub), para que no haga falta leer ni descargar el resto.</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Pesos</translation>
    </message>
    <message>
        <source>With several sources: a number for each, how much text of it comes first in the first epoch relative to the others. It does not change how often a source is trained. Empty: sources end together.</source>
        <translation>Con varias fuentes: un número para cada una, cuánto texto suyo va antes en la primera época en relación con los demás. No cambia cuántas veces se entrena una fuente. Vacío: las fuentes terminan a la vez.</translation>
    </message>
    <message>
        <source>Leave out</source>
        <translation>Excluir</translation>
    </message>
    <message>
        <source>Cache</source>
        <translation>Caché</translation>
    </message>
    <message>
        <source>GiB</source>
        <translation>GiB</translation>
    </message>
    <message>
        <source>Disk that prepared blocks and downloads of this workspace may take.</source>
        <translation>Disco que pueden ocupar los bloques preparados y las descargas de este espacio de trabajo.</translation>
    </message>
    <message>
        <source>Prepare ahead</source>
        <translation>Preparar por adelantado</translation>
    </message>
    <message>
        <source>Blocks that are prepared before a worker asks for them.</source>
        <translation>Bloques que se preparan antes de que un trabajador los pida.</translation>
    </message>
    <message>
        <source>Architecture</source>
        <translation>Arquitectura</translation>
    </message>
    <message>
        <source>gpt: a transformer as GPT-2 or Llama. hrm: the hierarchical reasoning model.</source>
        <translation>gpt: un transformer como GPT-2 o Llama. hrm: el modelo de razonamiento jerárquico.</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>Capas</translation>
    </message>
    <message>
        <source>Transformer blocks; for hrm the blocks of each of the two modules.</source>
        <translation>Bloques del transformer; en hrm, los de cada uno de los dos módulos.</translation>
    </message>
    <message>
        <source>Width</source>
        <translation>Anchura</translation>
    </message>
    <message>
        <source>Size of the residual stream. The number of heads must divide it.</source>
        <translation>Tamaño del flujo residual. El número de cabezas debe dividirlo.</translation>
    </message>
    <message>
        <source>Heads</source>
        <translation>Cabezas</translation>
    </message>
    <message>
        <source>Attention heads.</source>
        <translation>Cabezas de atención.</translation>
    </message>
    <message>
        <source>Key-value heads</source>
        <translation>Cabezas clave-valor</translation>
    </message>
    <message>
        <source>Feed-forward width</source>
        <translation>Anchura feed-forward</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Contexto</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>tokens</translation>
    </message>
    <message>
        <source>Positions</source>
        <translation>Posiciones</translation>
    </message>
    <message>
        <source>learned as in GPT-2, or rotary.</source>
        <translation>aprendidas, como en GPT-2, o rotatorias.</translation>
    </message>
    <message>
        <source>Rotary base</source>
        <translation>Base rotatoria</translation>
    </message>
    <message>
        <source>Base of the rotary angles: 10,000 in most models, 500,000 in Llama 3.</source>
        <translation>Base de los ángulos rotatorios: 10.000 en la mayoría de los modelos, 500.000 en Llama 3.</translation>
    </message>
    <message>
        <source>Norm</source>
        <translation>Norma</translation>
    </message>
    <message>
        <source>Normalisation before each part of a block.</source>
        <translation>Normalización antes de cada parte de un bloque.</translation>
    </message>
    <message>
        <source>Norm epsilon</source>
        <translation>Épsilon de la norma</translation>
    </message>
    <message>
        <source>Added to the variance in norms. 1e-5 in GPT-2, 1e-5 or 1e-6 in Llamas.</source>
        <translation>Se suma a la varianza en las normas. 1e-5 en GPT-2, 1e-5 o 1e-6 en los Llama.</translation>
    </message>
    <message>
        <source>Activation</source>
        <translation>Activación</translation>
    </message>
    <message>
        <source>Biases</source>
        <translation>Sesgos</translation>
    </message>
    <message>
        <source>Bias vectors in linear layers and norms, as in GPT-2.</source>
        <translation>Vectores de sesgo en capas lineales y normas, como en GPT-2.</translation>
    </message>
    <message>
        <source>Tied head</source>
        <translation>Cabeza ligada</translation>
    </message>
    <message>
        <source>The output layer shares the embedding matrix.</source>
        <translation>La capa de salida comparte la matriz de incrustación.</translation>
    </message>
    <message>
        <source>Dropout</source>
        <translation>Dropout</translation>
    </message>
    <message>
        <source>Probability with which activations are dropped while training.</source>
        <translation>Probabilidad con que se anulan activaciones al entrenar.</translation>
    </message>
    <message>
        <source>Experts</source>
        <translation>Expertos</translation>
    </message>
    <message>
        <source>Active experts</source>
        <translation>Expertos activos</translation>
    </message>
    <message>
        <source>Experts that each token visits.</source>
        <translation>Expertos que visita cada token.</translation>
    </message>
    <message>
        <source>Low layers</source>
        <translation>Capas bajas</translation>
    </message>
    <message>
        <source>Expansion</source>
        <translation>Expansión</translation>
    </message>
    <message>
        <source>hrm: size of the feed-forward part as a multiple of the width, before the factor 2/3 of SwiGLU.</source>
        <translation>hrm: tamaño de la parte feed-forward como múltiplo de la anchura, antes del factor 2/3 de SwiGLU.</translation>
    </message>
    <message>
        <source>High cycles</source>
        <translation>Ciclos altos</translation>
    </message>
    <message>
        <source>hrm: turns of the slow module in a segment.</source>
        <translation>hrm: vueltas del módulo lento en un segmento.</translation>
    </message>
    <message>
        <source>Low cycles</source>
        <translation>Ciclos bajos</translation>
    </message>
    <message>
        <source>hrm: turns of the fast module in each turn of the slow one.</source>
        <translation>hrm: vueltas del módulo rápido en cada vuelta del lento.</translation>
    </message>
    <message>
        <source>Segments, at most</source>
        <translation>Segmentos, como máximo</translation>
    </message>
    <message>
        <source>segments</source>
        <translation>segmentos</translation>
    </message>
    <message>
        <source>hrm: segments after which a row halts in any case.</source>
        <translation>hrm: segmentos tras los que una fila se detiene en todo caso.</translation>
    </message>
    <message>
        <source>Exploration</source>
        <translation>Exploración</translation>
    </message>
    <message>
        <source>hrm: share of rows that must think for a random number of segments while training.</source>
        <translation>hrm: parte de las filas que al entrenar debe pensar un número aleatorio de segmentos.</translation>
    </message>
    <message>
        <source>Start from</source>
        <translation>Partir de</translation>
    </message>
    <message>
        <source>LoRA rank</source>
        <translation>Rango de LoRA</translation>
    </message>
    <message>
        <source>LoRA alpha</source>
        <translation>Alfa de LoRA</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>Lote</translation>
    </message>
    <message>
        <source>sequences</source>
        <translation>secuencias</translation>
    </message>
    <message>
        <source>Windows in one micro-step of one worker.</source>
        <translation>Ventanas en un micropaso de un trabajador.</translation>
    </message>
    <message>
        <source>Accumulation</source>
        <translation>Acumulación</translation>
    </message>
    <message>
        <source>micro-steps</source>
        <translation>micropasos</translation>
    </message>
    <message>
        <source>Micro-steps whose gradients make one optimiser step.</source>
        <translation>Micropasos cuyos gradientes forman un paso del optimizador.</translation>
    </message>
    <message>
        <source>Peak learning rate</source>
        <translation>Tasa de aprendizaje máxima</translation>
    </message>
    <message>
        <source>Learning rate after warm-up.</source>
        <translation>Tasa de aprendizaje tras el calentamiento.</translation>
    </message>
    <message>
        <source>Final learning rate</source>
        <translation>Tasa de aprendizaje final</translation>
    </message>
    <message>
        <source>Where the schedule ends.</source>
        <translation>Donde termina el plan.</translation>
    </message>
    <message>
        <source>Warm-up</source>
        <translation>Calentamiento</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>pasos</translation>
    </message>
    <message>
        <source>Own optimiser steps of a worker over which the rate rises from 0.</source>
        <translation>Pasos propios de un trabajador en los que la tasa sube desde 0.</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>Plan</translation>
    </message>
    <message>
        <source>How the rate falls after warm-up. It follows the tokens of the whole run, so all workers are at the same place.</source>
        <translation>Cómo baja la tasa tras el calentamiento. Sigue los tokens de toda la ejecución, así todos los trabajadores están en el mismo punto.</translation>
    </message>
    <message>
        <source>Schedule length</source>
        <translation>Duración del plan</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>Precisión</translation>
    </message>
    <message>
        <source>TF32</source>
        <translation>TF32</translation>
    </message>
    <message>
        <source>On a GPU, compute fp32 products with TF32: faster, with 10 bits of precision. Deterministic runs do without.</source>
        <translation>En una GPU, calcular los productos fp32 con TF32: más rápido, con 10 bits de precisión. Las ejecuciones deterministas no lo usan.</translation>
    </message>
    <message>
        <source>Attention kernel</source>
        <translation>Núcleo de atención</translation>
    </message>
    <message>
        <source>Which kernel computes attention. auto: the fastest one that fits.</source>
        <translation>Qué núcleo calcula la atención. auto: el más rápido que sirva.</translation>
    </message>
    <message>
        <source>CUDA graph</source>
        <translation>Grafo CUDA</translation>
    </message>
    <message>
        <source>Recompute activations</source>
        <translation>Recalcular activaciones</translation>
    </message>
    <message>
        <source>Compute each block again in backward and keep its inputs only: much less memory for about a third more time.</source>
        <translation>Volver a calcular cada bloque en el pase hacia atrás y guardar solo sus entradas: mucha menos memoria a cambio de cerca de un tercio más de tiempo.</translation>
    </message>
    <message>
        <source>Adaptive rate</source>
        <translation>Tasa adaptativa</translation>
    </message>
    <message>
        <source>Lower the rate by 30 % whenever the mean loss of 64 steps is clearly above that of the 64 before, and raise it again while it falls. Stays within 10 to 100 % of the schedule; each change is an event.</source>
        <translation>Bajar la tasa un 30 % cuando la pérdida media de 64 pasos está claramente por encima de la de los 64 anteriores, y volver a subirla mientras baja. Queda entre el 10 y el 100 % del plan; cada cambio es un suceso.</translation>
    </message>
    <message>
        <source>Averaged weights</source>
        <translation>Pesos promediados</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>Dispositivos</translation>
    </message>
    <message>
        <source>auto (all GPUs, else the CPU), a list of GPU numbers or UUIDs, or cpu:2 for two workers on the CPU.</source>
        <translation>auto (todas las GPU; si no, la CPU), una lista de números o UUID de GPU, o cpu:2 para dos trabajadores en la CPU.</translation>
    </message>
    <message>
        <source>Workers</source>
        <translation>Trabajadores</translation>
    </message>
    <message>
        <source>Workers train</source>
        <translation>Los trabajadores entrenan</translation>
    </message>
    <message>
        <source>independent: each worker trains its own chunks and its own copy of the model, merged from time to time. data: all workers train one model; each step is split over them, as if one worker had a batch so many times as large.</source>
        <translation>independent: cada trabajador entrena sus propios fragmentos y su propia copia del modelo; las copias se fusionan de vez en cuando. data: todos los trabajadores entrenan un solo modelo; cada paso se reparte entre ellos, como si un trabajador tuviera un lote tantas veces mayor.</translation>
    </message>
    <message>
        <source>Missing worker</source>
        <translation>Trabajador ausente</translation>
    </message>
    <message>
        <source>With parallel data: how long the workers wait for one that does not take part in a step. Then all of them end, name it, and start again together from the last checkpoint.</source>
        <translation>Con parallel data: cuánto esperan los trabajadores a uno que no participa en un paso. Después terminan todos, lo nombran y empiezan de nuevo juntos desde el último punto de control.</translation>
    </message>
    <message>
        <source>Restarts, at most</source>
        <translation>Reinicios, máximo</translation>
    </message>
    <message>
        <source>How often a worker that died is started again in one attempt.</source>
        <translation>Cuántas veces se reinicia en un intento un trabajador que murió.</translation>
    </message>
    <message>
        <source>Epochs</source>
        <translation>Épocas</translation>
    </message>
    <message>
        <source>epochs</source>
        <translation>épocas</translation>
    </message>
    <message>
        <source>Passes over the data. The first stopping rule that is reached ends the run.</source>
        <translation>Pasadas por los datos. La primera regla de parada que se alcanza termina la ejecución.</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Pasos</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>Hours</source>
        <translation>Horas</translation>
    </message>
    <message>
        <source>hours</source>
        <translation>horas</translation>
    </message>
    <message>
        <source>Stop after epoch</source>
        <translation>Detener tras la época</translation>
    </message>
    <message>
        <source>Stop after blocks</source>
        <translation>Detener tras bloques</translation>
    </message>
    <message>
        <source>Iterate</source>
        <translation>Iterar</translation>
    </message>
    <message>
        <source>Begin another epoch whenever one ends, until another rule stops the run.</source>
        <translation>Empezar otra época cada vez que termina una, hasta que otra regla pare la ejecución.</translation>
    </message>
    <message>
        <source>Checkpoint every</source>
        <translation>Punto de control cada</translation>
    </message>
    <message>
        <source>minutes</source>
        <translation>minutos</translation>
    </message>
    <message>
        <source>Work that a crash can cost. &apos;minutes&apos; of training between two checkpoints of a worker.</source>
        <translation>Trabajo que puede costar un fallo. «minutes» de entrenamiento entre dos puntos de control de un trabajador.</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>Conservar</translation>
    </message>
    <message>
        <source>checkpoints</source>
        <translation>puntos de control</translation>
    </message>
    <message>
        <source>Newest checkpoints kept for each replica; the best one and pinned ones stay as well.</source>
        <translation>Puntos de control más recientes que se conservan por réplica; el mejor y los fijados también quedan.</translation>
    </message>
    <message>
        <source>adamw, adamw8bit (its moments take a quarter of the memory), adamatan2 (no epsilon, scale free) or sgd with momentum beta1.</source>
        <translation>adamw, adamw8bit (sus momentos ocupan una cuarta parte de la memoria), adamatan2 (sin épsilon, sin escala) o sgd con momento beta1.</translation>
    </message>
    <message>
        <source>Weight decay</source>
        <translation>Decaimiento de pesos</translation>
    </message>
    <message>
        <source>Decoupled, on matrices only.</source>
        <translation>Desacoplado, solo en matrices.</translation>
    </message>
    <message>
        <source>Beta 1</source>
        <translation>Beta 1</translation>
    </message>
    <message>
        <source>Decay of the mean of gradients.</source>
        <translation>Decaimiento de la media de gradientes.</translation>
    </message>
    <message>
        <source>Beta 2</source>
        <translation>Beta 2</translation>
    </message>
    <message>
        <source>Decay of the mean of squared gradients.</source>
        <translation>Decaimiento de la media de gradientes al cuadrado.</translation>
    </message>
    <message>
        <source>Epsilon</source>
        <translation>Épsilon</translation>
    </message>
    <message>
        <source>Added to the root of the second moment.</source>
        <translation>Se suma a la raíz del segundo momento.</translation>
    </message>
    <message>
        <source>Gradient clip</source>
        <translation>Recorte de gradiente</translation>
    </message>
    <message>
        <source>Bad steps, at most</source>
        <translation>Pasos malos, máximo</translation>
    </message>
    <message>
        <source>Steps in a row with NaN or Inf, each left out, before the worker goes back to its last checkpoint.</source>
        <translation>Pasos seguidos con NaN o Inf, cada uno omitido, antes de que el trabajador vuelva a su último punto de control.</translation>
    </message>
    <message>
        <source>Evaluate every</source>
        <translation>Evaluar cada</translation>
    </message>
    <message>
        <source>Batches</source>
        <translation>Lotes</translation>
    </message>
    <message>
        <source>batches</source>
        <translation>lotes</translation>
    </message>
    <message>
        <source>Batches of one evaluation, at most; always the same ones.</source>
        <translation>Lotes de una evaluación, como mucho; siempre los mismos.</translation>
    </message>
    <message>
        <source>Sample every</source>
        <translation>Generar texto cada</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Comienzo</translation>
    </message>
    <message>
        <source>Merge</source>
        <translation>Fusión</translation>
    </message>
    <message>
        <source>Merge every</source>
        <translation>Fusionar cada</translation>
    </message>
    <message>
        <source>Outer rate</source>
        <translation>Tasa exterior</translation>
    </message>
    <message>
        <source>DiLoCo: rate of the outer step.</source>
        <translation>DiLoCo: tasa del paso exterior.</translation>
    </message>
    <message>
        <source>Outer momentum</source>
        <translation>Momento exterior</translation>
    </message>
    <message>
        <source>DiLoCo: Nesterov momentum of the outer step.</source>
        <translation>DiLoCo: momento de Nesterov del paso exterior.</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Semilla</translation>
    </message>
    <message>
        <source>Of weights, order and sampling.</source>
        <translation>De pesos, orden y generación.</translation>
    </message>
    <message>
        <source>Deterministic</source>
        <translation>Determinista</translation>
    </message>
    <message>
        <source>Same claims, same bytes on a GPU too. Slower there; the CPU is always deterministic.</source>
        <translation>Mismas reservas, mismos bytes, también en GPU. Allí es más lento; la CPU siempre es determinista.</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Ejecución</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>Datos</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modelo</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>Entrenamiento</translation>
    </message>
    <message>
        <source>Stop and save</source>
        <translation>Parar y guardar</translation>
    </message>
    <message>
        <source>Optimiser</source>
        <translation>Optimizador</translation>
    </message>
    <message>
        <source>Evaluation and sampling</source>
        <translation>Evaluación y generación</translation>
    </message>
    <message>
        <source>Merging</source>
        <translation>Fusión</translation>
    </message>
    <message>
        <source>Seeds and determinism</source>
        <translation>Semillas y determinismo</translation>
    </message>
    <message>
        <source>CPU, words after two minutes</source>
        <translation>CPU, palabras en dos minutos</translation>
    </message>
    <message>
        <source>GPU, width 384</source>
        <translation>GPU, anchura 384</translation>
    </message>
    <message>
        <source>8 layers, 256</source>
        <translation>8 capas, 256</translation>
    </message>
    <message>
        <source>8 layers, 384</source>
        <translation>8 capas, 384</translation>
    </message>
    <message>
        <source>12 layers, 768</source>
        <translation>12 capas, 768</translation>
    </message>
    <message>
        <source>24 layers, 1,024</source>
        <translation>24 capas, 1.024</translation>
    </message>
    <message>
        <source>2+2 layers, 128</source>
        <translation>2+2 capas, 128</translation>
    </message>
    <message>
        <source>2+2 layers, 256</source>
        <translation>2+2 capas, 256</translation>
    </message>
    <message>
        <source>2+2 layers, 384</source>
        <translation>2+2 capas, 384</translation>
    </message>
    <message>
        <source>2+2 layers, 512</source>
        <translation>2+2 capas, 512</translation>
    </message>
    <message>
        <source>4+4 layers, 512, as published</source>
        <translation>4+4 capas, 512, como se publicó</translation>
    </message>
    <message>
        <source>2+2 layers, 768</source>
        <translation>2+2 capas, 768</translation>
    </message>
    <message>
        <source>4+4 layers, 1,024</source>
        <translation>4+4 capas, 1.024</translation>
    </message>
    <message>
        <source>Chunks of the parent</source>
        <translation>Fragmentos del padre</translation>
    </message>
    <message>
        <source>With init_from of a run on the same data: train everything in a new pass (again), or leave out of the first epoch what those weights have seen in a pass that was not over (skip).</source>
        <translation>Con init_from de una ejecución sobre los mismos datos: entrenar todo en una pasada nueva (again), o dejar fuera de la primera época lo que esos pesos ya vieron en una pasada que no había terminado (skip).</translation>
    </message>
    <message>
        <source>seconds</source>
        <translation>segundos</translation>
    </message>
    <message>
        <source>Evaluation text</source>
        <translation>Texto de evaluación</translation>
    </message>
    <message>
        <source>A file, folder or hub split to evaluate on, such as hf://wikitext:wikitext-2-raw-v1:validation. Nothing of the training data is held out then.</source>
        <translation>Archivo, carpeta o partición del hub con que evaluar, como hf://wikitext:wikitext-2-raw-v1:validation. Entonces no se aparta nada de los datos de entrenamiento.</translation>
    </message>
    <message>
        <source>GPT char, 4 layers</source>
        <translation>GPT char, 4 capas</translation>
    </message>
    <message>
        <source>GPT char, 6 layers</source>
        <translation>GPT char, 6 capas</translation>
    </message>
    <message>
        <source>Of matrix products; weights are float32. auto: bf16 on GPUs, fp32 on CPUs; bf16 pays on AMD processors with AVX512-BF16. fp16 needs a GPU and scales the loss by itself.</source>
        <translation>De los productos de matrices; los pesos son float32. auto: bf16 en GPU, fp32 en CPU; bf16 compensa en procesadores AMD con AVX512-BF16. fp16 necesita una GPU y escala la pérdida por sí mismo.</translation>
    </message>
    <message>
        <source>End with the epoch that is being trained when the run starts or is resumed, also with iterate.</source>
        <translation>Acabar con la época que se entrena cuando la ejecución empieza o se reanuda, también con iterate.</translation>
    </message>
    <message>
        <source>Encoding</source>
        <translation>Codificación</translation>
    </message>
    <message>
        <source>How the characters of text files are stored: utf-8, windows-1252, utf-16le, shift_jis, gb18030 or any other name ICU knows. auto: found from the bytes and said; what is not UTF-8 is converted.</source>
        <translation>Cómo están guardados los caracteres de los archivos de texto: utf-8, windows-1252, utf-16le, shift_jis, gb18030 o cualquier otro nombre que conozca ICU. auto: se deduce de los bytes y se indica; lo que no es UTF-8 se convierte.</translation>
    </message>
    <message>
        <source>CSV delimiter</source>
        <translation>Separador CSV</translation>
    </message>
    <message>
        <source>What stands between the fields of csv files: one character, or comma, semicolon, tab, pipe, space. auto: found from the first records.</source>
        <translation>Lo que hay entre los campos de los archivos csv: un carácter, o comma, semicolon, tab, pipe, space. auto: se deduce de los primeros registros.</translation>
    </message>
    <message>
        <source>CSV quote</source>
        <translation>Comillas CSV</translation>
    </message>
    <message>
        <source>What stands around fields of csv files that hold delimiters or line ends: one character, or none. auto: the double quote.</source>
        <translation>Lo que rodea los campos de archivos csv que contienen separadores o finales de línea: un carácter, o none. auto: las comillas dobles.</translation>
    </message>
    <message>
        <source>CSV escape</source>
        <translation>Escape CSV</translation>
    </message>
    <message>
        <source>A character that takes the meaning from the one after it in csv files, or none (a quote inside quotes is doubled). auto: a backslash where the first records show it.</source>
        <translation>Un carácter que quita su significado al que le sigue en archivos csv, o none (unas comillas dentro de comillas se duplican). auto: una barra invertida donde los primeros registros la muestran.</translation>
    </message>
    <message>
        <source>CSV header</source>
        <translation>Encabezado CSV</translation>
    </message>
    <message>
        <source>The first record of a csv file names its columns. Off: it is data, and the columns are called 1, 2, 3.</source>
        <translation>El primer registro de un archivo csv nombra sus columnas. Desactivado: es un dato, y las columnas se llaman 1, 2, 3.</translation>
    </message>
    <message>
        <source>Changed or damaged files</source>
        <translation>Archivos cambiados o dañados</translation>
    </message>
    <message>
        <source>Unreadable rows, at most</source>
        <translation>Filas ilegibles, como máximo</translation>
    </message>
    <message>
        <source>Start at</source>
        <translation>Empezar en</translation>
    </message>
    <message>
        <source>BLOCK:CHUNK, both from 0: the first epoch begins with this chunk, goes on with what comes after it in the data and ends with what comes before it, so nothing is left out. Both parts are shuffled as usual; later epochs are as without it. The data is looked through up to there before training begins. Empty: at the beginning.</source>
        <translation>BLOQUE:FRAGMENTO, ambos desde 0: la primera época empieza con este fragmento, sigue con lo que hay detrás en los datos y termina con lo que hay delante, así que no se omite nada. Ambas partes se mezclan como siempre; las épocas siguientes no cambian. Los datos se recorren hasta ese punto antes de empezar a entrenar. Vacío: por el principio.</translation>
    </message>
    <message>
        <source>Expected loss</source>
        <translation>Pérdida esperada</translation>
    </message>
    <message>
        <source>What fresh weights are expected to need for new text after the first megabyte, as a multiple of what zstd needs for it. Learnt from runs of the presets on prose, code, licences, tables and logs.</source>
        <translation>Lo que se espera que necesiten unos pesos nuevos para un texto nuevo tras el primer megabyte, como múltiplo de lo que necesita zstd. Se ha obtenido de ejecuciones de los preajustes con prosa, código, licencias, tablas y logs.</translation>
    </message>
    <message>
        <source>Expected loss, fall</source>
        <translation>Pérdida esperada, descenso</translation>
    </message>
    <message>
        <source>How the expected loss falls with the text that was trained: megabytes to the power of minus this.</source>
        <translation>Cómo desciende la pérdida esperada con el texto entrenado: megabytes elevados a menos este valor.</translation>
    </message>
    <message>
        <source>Loss alarm below</source>
        <translation>Alarma de pérdida por debajo de</translation>
    </message>
    <message>
        <source>Transfers</source>
        <translation>Transferencias</translation>
    </message>
    <message>
        <source>Ranges of a file that the feeder of a run fetches from a server at once. More than a few are of use on slow or distant connections only, and a server may refuse them.</source>
        <translation>Tramos de un archivo que el alimentador de una ejecución pide a la vez a un servidor. Más de unos pocos solo sirven en conexiones lentas o lejanas, y un servidor puede rechazarlos.</translation>
    </message>
    <message>
        <source>How the replicas of the workers become one model: average of weights by tokens, DiLoCo (average with outer momentum; the last round keeps what evaluates best of outer step and plain average), or none: N models.</source>
        <translation>Cómo se convierten en un solo modelo las réplicas de los trabajadores: media de pesos por tokens, DiLoCo (media con momento exterior; la última ronda conserva lo que mejor se evalúa entre el paso exterior y la media simple), o ninguna fusión: N modelos.</translation>
    </message>
    <message>
        <source>%1 0: %2.</source>
        <translation>%1 0: %2.</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>sin límite</translation>
    </message>
    <message>
        <source>Longer samples are filtered and counted.</source>
        <translation>Las muestras más largas se filtran y se cuentan.</translation>
    </message>
    <message>
        <source>all</source>
        <translation>todas</translation>
    </message>
    <message>
        <source>Use only this many samples of each source.</source>
        <translation>Usar solo este número de muestras de cada fuente.</translation>
    </message>
    <message>
        <source>as many as heads</source>
        <translation>tantas como cabezas</translation>
    </message>
    <message>
        <source>Heads of keys and values in grouped-query attention.</source>
        <translation>Cabezas de claves y valores en la atención por grupos.</translation>
    </message>
    <message>
        <source>the usual one for the activation</source>
        <translation>la habitual para la activación</translation>
    </message>
    <message>
        <source>Inner size of the feed-forward part.</source>
        <translation>Tamaño interior de la parte feed-forward.</translation>
    </message>
    <message>
        <source>one for all tokens</source>
        <translation>una para todos los tokens</translation>
    </message>
    <message>
        <source>Feed-forward parts to choose from in each block (mixture of experts).</source>
        <translation>Partes feed-forward entre las que se elige en cada bloque (mezcla de expertos).</translation>
    </message>
    <message>
        <source>as many as layers</source>
        <translation>tantas como capas</translation>
    </message>
    <message>
        <source>hrm: blocks of the fast module.</source>
        <translation>hrm: bloques del módulo rápido.</translation>
    </message>
    <message>
        <source>train all weights</source>
        <translation>entrenar todos los pesos</translation>
    </message>
    <message>
        <source>Train only a pair of small matrices beside each linear layer and keep the weights of init_from as they are.</source>
        <translation>Entrenar solo un par de matrices pequeñas junto a cada capa lineal y dejar los pesos de init_from como están.</translation>
    </message>
    <message>
        <source>twice the rank</source>
        <translation>el doble del rango</translation>
    </message>
    <message>
        <source>The pairs are scaled by alpha / rank.</source>
        <translation>Los pares se escalan por alfa / rango.</translation>
    </message>
    <message>
        <source>as the stopping rules or the epochs say</source>
        <translation>según las reglas de parada o las épocas</translation>
    </message>
    <message>
        <source>Tokens of the run at which the final rate is reached.</source>
        <translation>Tokens de la ejecución en los que se alcanza la tasa final.</translation>
    </message>
    <message>
        <source>none</source>
        <translation>ninguno</translation>
    </message>
    <message>
        <source>Keep a moving average of the weights with this decay; evaluation, samples and exports use it.</source>
        <translation>Mantener una media móvil de los pesos con este decaimiento; la usan evaluación, muestras y exportaciones.</translation>
    </message>
    <message>
        <source>one per device, two on a CPU</source>
        <translation>uno por dispositivo, dos en una CPU</translation>
    </message>
    <message>
        <source>Number of workers. Where they are never merged, 0 makes one on a CPU.</source>
        <translation>Número de trabajadores. Si nunca se fusionan, 0 crea uno en una CPU.</translation>
    </message>
    <message>
        <source>Threads per worker</source>
        <translation>Hilos por trabajador</translation>
    </message>
    <message>
        <source>cores divided by workers</source>
        <translation>núcleos entre trabajadores</translation>
    </message>
    <message>
        <source>CPU threads of one worker.</source>
        <translation>Hilos de CPU de un trabajador.</translation>
    </message>
    <message>
        <source>Stop after this many optimiser steps, summed over the workers.</source>
        <translation>Detener tras este número de pasos del optimizador, sumados entre los trabajadores.</translation>
    </message>
    <message>
        <source>by time only</source>
        <translation>solo por tiempo</translation>
    </message>
    <message>
        <source>Also save after this many own steps of a worker; at the end of its chunk where that is at most five seconds away.</source>
        <translation>Guardar también tras este número de pasos propios de un trabajador; al final de su fragmento, si faltan para ello cinco segundos como mucho.</translation>
    </message>
    <message>
        <source>no clipping</source>
        <translation>sin recorte</translation>
    </message>
    <message>
        <source>Largest norm of the gradient.</source>
        <translation>Norma máxima del gradiente.</translation>
    </message>
    <message>
        <source>only at the end</source>
        <translation>solo al final</translation>
    </message>
    <message>
        <source>Own steps of a worker between two evaluations on held-out text.</source>
        <translation>Pasos propios de un trabajador entre dos evaluaciones con texto reservado.</translation>
    </message>
    <message>
        <source>never</source>
        <translation>nunca</translation>
    </message>
    <message>
        <source>Own steps of worker 0 between two text samples.</source>
        <translation>Pasos propios del trabajador 0 entre dos textos generados.</translation>
    </message>
    <message>
        <source>An alarm is raised when the loss on new text lies below this share of the expected one: labels may not be shifted, or the data contains copies of itself.</source>
        <translation>Se da una alarma cuando la pérdida en texto nuevo está por debajo de esta fracción de la esperada: puede que las etiquetas no estén desplazadas o que los datos se contengan a sí mismos.</translation>
    </message>
    <message>
        <source>ten times an epoch</source>
        <translation>diez veces por época</translation>
    </message>
    <message>
        <source>Tokens of the run between two merges. With 0 none comes before each worker has done 250 steps. There is always one at the end.</source>
        <translation>Tokens de la ejecución entre dos fusiones. Con 0 no hay ninguna antes de que cada trabajador haya dado 250 pasos. Siempre hay una al final.</translation>
    </message>
    <message>
        <source>Files, folders or globs with text (txt, csv, tsv, jsonl, json, parquet, arrow, warc; plain, .gz, .zst, .xz or .bz2; all but compressed Parquet and Arrow also inside .zip and .tar), or hf://owner/name[:config][:split][@revision], https://host/file, s3://bucket/key, gs://bucket/key (a folder that ends in /, a pattern).</source>
        <translation>Archivos, carpetas o patrones con texto (txt, csv, tsv, jsonl, json, parquet, arrow, warc; sin comprimir, .gz, .zst, .xz o .bz2; todo salvo Parquet y Arrow comprimidos también dentro de .zip y .tar), o hf://propietario/nombre[:config][:split][@revisión], https://servidor/archivo, s3://bucket/clave, gs://bucket/clave (una carpeta que acaba en /, un patrón).</translation>
    </message>
    <message>
        <source>Tokens in one training window. With init_from at most the context of that model, which stays as it is.</source>
        <translation>Tokens de una ventana de entrenamiento. Con init_from como máximo el contexto de ese modelo, que se queda como está.</translation>
    </message>
    <message>
        <source>Inside the feed-forward part; the ones with glu have a gate. gelu is the form with tanh.</source>
        <translation>Dentro de la parte feed-forward; las que llevan glu tienen puerta. gelu es la forma con tanh.</translation>
    </message>
    <message>
        <source>Shape</source>
        <translation>Forma</translation>
    </message>
    <message>
        <source>The whole shape of a model as JSON, for what has no setting of its own; init_from fills it in. Empty: the settings above.</source>
        <translation>La forma completa de un modelo como JSON, para lo que no tiene ajuste propio; init_from la rellena. Vacío: los ajustes de arriba.</translation>
    </message>
    <message>
        <source>Chat template</source>
        <translation>Plantilla de chat</translation>
    </message>
    <message>
        <source>How rows that are conversations (messages, ShareGPT, Alpaca, prompt and completion; found by their columns) become text: chatml, the file of a template, or the folder of a model that has one. Empty: that of the model of init_from, and without one the rows are plain text. none: plain text in any case.</source>
        <translation>Cómo se convierten en texto las filas que son conversaciones (messages, ShareGPT, Alpaca, prompt y completion; se reconocen por sus columnas): chatml, el archivo de una plantilla o la carpeta de un modelo que tenga una. Vacío: la del modelo de init_from y, si no tiene, las filas son texto simple. none: texto simple en todo caso.</translation>
    </message>
    <message>
        <source>Answers that are learnt</source>
        <translation>Respuestas que se aprenden</translation>
    </message>
    <message>
        <source>Which turns of the assistant count in the loss; everything else is read but not learnt. A turn is what the template marks with {% generation %} or, without such marks, what it adds when the turn is there.</source>
        <translation>Qué turnos del asistente cuentan en la pérdida; todo lo demás se lee, pero no se aprende. Un turno es lo que la plantilla marca con {% generation %} o, sin esas marcas, lo que añade cuando el turno está.</translation>
    </message>
    <message>
        <source>Longer than a window</source>
        <translation>Más largas que una ventana</translation>
    </message>
    <message>
        <source>Samples apart</source>
        <translation>Muestras separadas</translation>
    </message>
    <message>
        <source>Whether a sample reads nothing of the samples before it in the same window: attention stays inside it and positions begin anew, as if it were trained alone; held-out loss is measured so too. auto: for conversations with architecture gpt. off: a window is one text.</source>
        <translation>Si una muestra no lee nada de las muestras que la preceden en la misma ventana: la atención queda dentro de ella y las posiciones empiezan de nuevo, como si se entrenara sola; la pérdida del texto reservado se mide igual. auto: para conversaciones con la arquitectura gpt. off: una ventana es un solo texto.</translation>
    </message>
    <message>
        <source>Samples in windows</source>
        <translation>Muestras en ventanas</translation>
    </message>
    <message>
        <source>A checkpoint folder of a run, a Hugging Face folder with model.safetensors, a GGUF, or a model of the hub (hf://owner/name, which the command line brings to this machine first), whose weights the run starts from. Shape and tokenizer are taken from there. Empty: fresh weights.</source>
        <translation>La carpeta de un punto de control de una ejecución, una carpeta de Hugging Face con model.safetensors, un GGUF o un modelo del hub (hf://propietario/nombre, que la línea de órdenes descarga primero a este equipo), de cuyos pesos parte la ejecución. La forma y el tokenizador se toman de ahí. Vacío: pesos nuevos.</translation>
    </message>
    <message>
        <source>Questions</source>
        <translation>Preguntas</translation>
    </message>
    <message>
        <source>A JSONL file of questions with known answers, a multiple choice (question, choices, gold) or written (question, answer), that each evaluation puts to the model too, as &apos;furrowctl eval --tasks&apos; does afterwards; the share of right answers is told beside the loss. The run keeps a copy. Empty: none.</source>
        <translation>Un archivo JSONL de preguntas con respuestas conocidas, de opción múltiple (question, choices, gold) o escritas (question, answer), que cada evaluación plantea también al modelo, como hace después «furrowctl eval --tasks»; la proporción de respuestas correctas se indica junto a la pérdida. La ejecución guarda una copia. Vacío: ninguna.</translation>
    </message>
    <message>
        <source>Questions, at most</source>
        <translation>Preguntas, como máximo</translation>
    </message>
    <message>
        <source>questions</source>
        <translation>preguntas</translation>
    </message>
    <message>
        <source>First questions of eval_tasks that one evaluation asks. Training waits meanwhile.</source>
        <translation>Primeras preguntas de eval_tasks que plantea una evaluación. Mientras tanto, el entrenamiento espera.</translation>
    </message>
    <message>
        <source>Column that holds the text in csv, jsonl, json, parquet, arrow and WebDataset; meta.text, paragraphs[] and messages[].content name what is nested, and the texts of a list are joined by line breaks. In one JSON document data[].text names the list whose elements are rows. Empty: the first of text, txt, content, sentence, document, article, body, whatever their case, also as the last part of a nested name (meta.text), else the column with the most text, by the first 100 rows.</source>
        <translation>Columna que contiene el texto en csv, jsonl, json, parquet, arrow y WebDataset; meta.text, paragraphs[] y messages[].content nombran lo anidado, y los textos de una lista se unen con saltos de línea. En un solo documento JSON data[].text nombra la lista cuyos elementos son filas. Vacío: la primera de text, txt, content, sentence, document, article, body, en mayúsculas o minúsculas, también como última parte de un nombre anidado (meta.text); si no, la columna con más texto según las primeras 100 filas.</translation>
    </message>
    <message>
        <source>Stop after this much active time. Pauses, and waits for data that cannot be reached, are not in it.</source>
        <translation>Detener tras este tiempo activo. Las pausas y las esperas de datos inaccesibles no cuentan.</translation>
    </message>
    <message>
        <source>How samples come to lie in the windows of a chunk. end_to_end: one after the other, and what does not fit goes on in the next window; there is no padding but in the last. best_fit: a sample is whole in one window if it fits into one, the longest first, each where the least room is left over; the rest of a window is padding, whose share is shown. single: each sample begins a window of its own. auto: best_fit for conversations that are kept apart (document_masks), else end_to_end.</source>
        <translation>Cómo quedan las muestras en las ventanas de un fragmento. end_to_end: una tras otra, y lo que no cabe sigue en la ventana siguiente; solo la última lleva relleno. best_fit: una muestra queda entera en una ventana si cabe en una, primero las más largas, cada una donde sobra menos sitio; el resto de la ventana es relleno, cuya proporción se muestra. single: cada muestra empieza una ventana propia. auto: best_fit para conversaciones que se mantienen separadas (document_masks), si no end_to_end.</translation>
    </message>
    <message>
        <source>Clip per sample</source>
        <translation>Recorte por muestra</translation>
    </message>
    <message>
        <source>no clipping by sample</source>
        <translation>sin recorte por muestra</translation>
    </message>
    <message>
        <source>Largest norm of the gradient of one window alone (elsewhere max_grad_norm): no window moves the weights further than that in a step. A step is the mean over its windows then, each by the mean of its labels. For architecture gpt without experts; on a CPU by libtorch&apos;s operators.</source>
        <translation>Norma máxima del gradiente de una sola ventana (en otros programas, max_grad_norm): ninguna ventana mueve los pesos más que eso en un paso. Un paso es entonces la media de sus ventanas, cada una con la media de sus etiquetas. Para la arquitectura gpt sin expertos; en una CPU, con los operadores de libtorch.</translation>
    </message>
    <message>
        <source>Privacy</source>
        <translation>Privacidad</translation>
    </message>
    <message>
        <source>Noise</source>
        <translation>Ruido</translation>
    </message>
    <message>
        <source>Private training: normal noise on the sum of clipped gradients, its deviation this many times clip_per_sample. 0.5 to 2 is usual; the larger a step (batch_size, grad_accum), the less it is felt.</source>
        <translation>Entrenamiento privado: ruido normal sobre la suma de gradientes recortados, con una desviación de tantas veces clip_per_sample. Lo habitual es de 0,5 a 2; cuanto mayor es un paso (batch_size, grad_accum), menos se nota.</translation>
    </message>
    <message>
        <source>Private unit</source>
        <translation>Unidad privada</translation>
    </message>
    <message>
        <source>Whose part is bounded and hidden. window: as much text as is trained together. sample: a row of the data, which then has a window of its own (packing single, long_samples cut or leave_out).</source>
        <translation>De quién es la parte que se acota y se oculta. window: el texto que se entrena junto. sample: una fila de los datos, que entonces tiene una ventana propia (packing single, long_samples cut o leave_out).</translation>
    </message>
    <message>
        <source>Delta</source>
        <translation>Delta</translation>
    </message>
    <message>
        <source>no epsilon is said</source>
        <translation>no se da ningún épsilon</translation>
    </message>
    <message>
        <source>Of the guarantee that status and audit state: epsilon at this delta. It should be well below one divided by the number of units, such as 0.000001.</source>
        <translation>De la garantía que indican el estado y la auditoría: épsilon con este delta. Debe ser bastante menor que uno dividido por el número de unidades, por ejemplo 0.000001.</translation>
    </message>
    <message>
        <source>Epsilon, at most</source>
        <translation>Épsilon, como máximo</translation>
    </message>
    <message>
        <source>The run ends before any unit takes part once more than this allows, whatever else was asked for. What was trained and lost with its weights counts too.</source>
        <translation>La ejecución termina antes de que alguna unidad participe una vez más de lo que esto permite, se haya pedido lo que se haya pedido. Lo que se entrenó y se perdió con sus pesos también cuenta.</translation>
    </message>
    <message>
        <source>A file that names what is not trained, one entry a line: chunk BLOCK:COLUMN, sample FINGERPRINT, pattern REGEX. Chunks are counted as left out, samples as filtered.</source>
        <translation>Un archivo que nombra lo que no se entrena, una entrada por línea: chunk BLOQUE:COLUMNA, sample HUELLA, pattern EXPRESIÓN. Los fragmentos se cuentan como omitidos, las muestras como filtradas.</translation>
    </message>
    <message>
        <source>Stop with the step that reaches this many trained tokens.</source>
        <translation>Terminar con el paso que llega a este número de tokens entrenados.</translation>
    </message>
    <message>
        <source>Beginning of the text samples; empty: a text of its own.</source>
        <translation>Principio de los textos de muestra; vacío: un texto propio.</translation>
    </message>
    <message>
        <source>byte, char (characters found in the data), gpt2, or the path of a tokenizer.json or sentencepiece .model. A special token (&lt;s&gt;) that stands in a text of the data is plain text; in conversations it is the token, as where transformers applies the template.</source>
        <translation>byte, char (los caracteres de los datos), gpt2, o la ruta de un tokenizer.json o de un .model de sentencepiece. Un token especial (&lt;s&gt;) que aparece en un texto de los datos es texto corriente; en conversaciones es el token, como cuando transformers aplica la plantilla.</translation>
    </message>
    <message>
        <source>End when this many blocks are trained. Blocks are shuffled within a window (shuffle_window_blocks), so that chunks of others are trained by then too. A block of which this run trains nothing does not count: all of it is left out, was trained by the parent run, or has nothing to train.</source>
        <translation>Terminar cuando este número de bloques esté entrenado. Los bloques se mezclan dentro de una ventana (shuffle_window_blocks), así que para entonces también se han entrenado fragmentos de otros. No cuenta un bloque del que esta ejecución no entrena nada: porque todo él se omite, lo entrenó la ejecución padre o no tiene nada que entrenar.</translation>
    </message>
    <message>
        <source>What becomes of samples that are longer than seq_len, with the end-of-text after each: they go on in the next window (split), their end is cut off (cut), or they are not trained (leave_out). Those that are cut or left out are counted. Of a pair of answers each with its prompt may have half of seq_len, and split leaves out what is longer.</source>
        <translation>Qué se hace con las muestras más largas que seq_len, contando el fin de texto tras cada una: siguen en la ventana siguiente (split), se corta su final (cut) o no se entrenan (leave_out). Las cortadas o dejadas fuera se cuentan. De una pareja de respuestas, cada una con su petición puede tener la mitad de seq_len, y split deja fuera lo más largo.</translation>
    </message>
    <message>
        <source>What happens when a file of the data is not any more what it was when the run was made, or its rest cannot be read: the run stops and says so (stop), or what of the file is not prepared yet is left out, by name (leave_out). Rows that are left out because they cannot be read count as unreadable, but not towards max_unreadable_percent.</source>
        <translation>Qué ocurre cuando un archivo de los datos ya no es lo que era al crear la ejecución, o su resto no se puede leer: la ejecución se detiene y lo dice (stop), o lo que del archivo aún no está preparado se deja fuera, con su nombre (leave_out). Las filas que se dejan fuera porque no se pueden leer cuentan como ilegibles, pero no para max_unreadable_percent.</translation>
    </message>
    <message>
        <source>The run stops when a larger share of the rows read so far cannot be read, and at least ten of them. Those that bad_files leaves out do not count. 100: no limit.</source>
        <translation>La ejecución se detiene cuando una parte mayor de las filas leídas hasta ahora no se puede leer, y son al menos diez. Las que bad_files deja fuera no cuentan. 100: sin límite.</translation>
    </message>
    <message>
        <source>Trained for</source>
        <translation>Se entrena para</translation>
    </message>
    <message>
        <source>next_token: to go on with texts and conversations. dpo: direct preference optimisation (arXiv:2305.18290); the rows are pairs of a chosen and a rejected answer, and the model learns to make the chosen one likelier than its start weights make it, as against the other one. It needs lora_rank: the start weights, with the pairs of LoRA switched off, are the reference.</source>
        <translation>next_token: continuar textos y conversaciones. dpo: optimización directa de preferencias (arXiv:2305.18290); las filas son parejas de una respuesta elegida y una rechazada, y el modelo aprende a hacer la elegida más probable que con sus pesos iniciales, frente a la otra. Necesita lora_rank: la referencia son los pesos iniciales, sin los pares de LoRA.</translation>
    </message>
    <message>
        <source>DPO beta</source>
        <translation>Beta de DPO</translation>
    </message>
    <message>
        <source>With objective dpo: how closely the model is held to its start weights. The smaller, the further it may go. 0.05 to 0.5 is usual; with dpo_normalise length 2 to 10.</source>
        <translation>Con objective dpo: cuánto se sujeta el modelo a sus pesos iniciales. Cuanto menor, más puede alejarse. Lo habitual es de 0.05 a 0.5; con dpo_normalise length, de 2 a 10.</translation>
    </message>
    <message>
        <source>DPO by length</source>
        <translation>DPO por longitud</translation>
    </message>
    <message>
        <source>With objective dpo: what is compared of two answers. none: the log-probability of the whole answer against that of the reference (loss_type sigmoid of trl). length: the same divided by the tokens of the answer, so that a long answer does not count for its length (sigmoid_norm of trl).</source>
        <translation>Con objective dpo: qué se compara de dos respuestas. none: la log-probabilidad de la respuesta entera frente a la de la referencia (loss_type sigmoid de trl). length: lo mismo dividido por los tokens de la respuesta, para que una respuesta larga no cuente por su longitud (sigmoid_norm de trl).</translation>
    </message>
    <message>
        <source>On a GPU, replay what a micro-batch does as one CUDA graph: fewer launches, more memory. It is compared with an ordinary pass before it is used. Not for mixture of experts, recomputed activations, HRM, preferences and data-parallel training.</source>
        <translation>En una GPU, repetir lo que hace un microlote como un solo grafo CUDA: menos lanzamientos, más memoria. Se compara con una pasada normal antes de usarlo. No sirve para mezcla de expertos, activaciones recalculadas, HRM, preferencias ni entrenamiento paralelo de datos.</translation>
    </message>
</context>
<context>
    <name>SmallCharts</name>
    <message>
        <source>Learning rate</source>
        <translation>Tasa de aprendizaje</translation>
    </message>
    <message>
        <source>per worker, each on its own schedule</source>
        <translation>por trabajador, con su propio plan</translation>
    </message>
    <message>
        <source>Tokens per second</source>
        <translation>Tokens por segundo</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>Norma del gradiente</translation>
    </message>
    <message>
        <source>before clipping</source>
        <translation>antes del recorte</translation>
    </message>
    <message>
        <source>Parameter norm</source>
        <translation>Norma de los parámetros</translation>
    </message>
    <message>
        <source>per replica</source>
        <translation>de cada réplica</translation>
    </message>
    <message>
        <source>Drift of replicas</source>
        <translation>Deriva de las réplicas</translation>
    </message>
    <message>
        <source>from their mean at each merge</source>
        <translation>respecto a su media en cada fusión</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Memoria</translation>
    </message>
    <message>
        <source>MiB per worker</source>
        <translation>MiB de cada trabajador</translation>
    </message>
    <message>
        <source>Waiting for data</source>
        <translation>Espera de datos</translation>
    </message>
    <message>
        <source>ms per step</source>
        <translation>ms de un paso</translation>
    </message>
    <message>
        <source>Forward</source>
        <translation>Pase hacia delante</translation>
    </message>
    <message>
        <source>Backward</source>
        <translation>Pase hacia atrás</translation>
    </message>
    <message>
        <source>Optimiser</source>
        <translation>Optimizador</translation>
    </message>
    <message>
        <source>mean %1</source>
        <translation>media %1</translation>
    </message>
    <message>
        <source>Right answers</source>
        <translation>Respuestas correctas</translation>
    </message>
    <message>
        <source>share of the questions, at each evaluation</source>
        <translation>proporción de las preguntas, en cada evaluación</translation>
    </message>
    <message>
        <source>Privacy spent</source>
        <translation>Privacidad gastada</translation>
    </message>
    <message>
        <source>epsilon at most, of any unit</source>
        <translation>épsilon como máximo, de cualquier unidad</translation>
    </message>
    <message>
        <source>all workers, stacked</source>
        <translation>todos los trabajadores, apilados</translation>
    </message>
    <message>
        <source>Margin of the chosen answers</source>
        <translation>Margen de las respuestas elegidas</translation>
    </message>
    <message>
        <source>mean of a step, against the start weights</source>
        <translation>media de un paso, frente a los pesos iniciales</translation>
    </message>
    <message>
        <source>Chosen answers preferred</source>
        <translation>Respuestas elegidas preferidas</translation>
    </message>
    <message>
        <source>share of the pairs of a step</source>
        <translation>proporción de las parejas de un paso</translation>
    </message>
</context>
<context>
    <name>StateGlyph</name>
    <message>
        <source>Running</source>
        <translation>En marcha</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>En pausa</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>Deteniéndose</translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation>Interrumpida</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Fallida</translation>
    </message>
    <message>
        <source>Finished</source>
        <translation>Terminada</translation>
    </message>
    <message>
        <source>Queued</source>
        <translation>En cola</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>Desconocida</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Detenida</translation>
    </message>
</context>
<context>
    <name>Tables</name>
    <message>
        <source>Worker</source>
        <translation>Trabajador</translation>
    </message>
    <message>
        <source>in training</source>
        <translation>en entrenamiento</translation>
    </message>
    <message>
        <source>trained, not in a checkpoint yet</source>
        <translation>entrenado, aún sin punto de control</translation>
    </message>
    <message>
        <source>committed</source>
        <translation>confirmado</translation>
    </message>
    <message>
        <source>given back</source>
        <translation>devuelto</translation>
    </message>
    <message>
        <source>work lost</source>
        <translation>trabajo perdido</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>fallido</translation>
    </message>
    <message>
        <source>trained twice</source>
        <translation>entrenado dos veces</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>falta</translation>
    </message>
    <message>
        <source>claimed twice at once</source>
        <translation>reservado dos veces a la vez</translation>
    </message>
    <message>
        <source>poisoned</source>
        <translation>envenenado</translation>
    </message>
    <message>
        <source>poisoned, accepted</source>
        <translation>envenenado, aceptado</translation>
    </message>
    <message>
        <source>excluded</source>
        <translation>excluido</translation>
    </message>
    <message>
        <source>may change</source>
        <translation>puede cambiar</translation>
    </message>
    <message>
        <source>changes the curves</source>
        <translation>cambia las curvas</translation>
    </message>
    <message>
        <source>fixed</source>
        <translation>fijo</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Hora</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>Nivel</translation>
    </message>
    <message>
        <source>Process</source>
        <translation>Proceso</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Texto</translation>
    </message>
    <message>
        <source>Chunk</source>
        <translation>Fragmento</translation>
    </message>
    <message>
        <source>What happened</source>
        <translation>Qué ocurrió</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>Valor</translation>
    </message>
    <message>
        <source>Group</source>
        <translation>Grupo</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Clave</translation>
    </message>
    <message>
        <source>Unit</source>
        <translation>Unidad</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Preajuste</translation>
    </message>
    <message>
        <source>On resume</source>
        <translation>Al reanudar</translation>
    </message>
    <message>
        <source>Meaning</source>
        <translation>Significado</translation>
    </message>
    <message>
        <source>Block</source>
        <translation>Bloque</translation>
    </message>
    <message>
        <source>Chunks</source>
        <translation>Fragmentos</translation>
    </message>
    <message>
        <source>Committed</source>
        <translation>Confirmados</translation>
    </message>
    <message>
        <source>Trained</source>
        <translation>Entrenados</translation>
    </message>
    <message>
        <source>Leased</source>
        <translation>Reservados</translation>
    </message>
    <message>
        <source>Free</source>
        <translation>Libres</translation>
    </message>
    <message>
        <source>Not prepared</source>
        <translation>Sin preparar</translation>
    </message>
    <message>
        <source>Left out</source>
        <translation>Omitidos</translation>
    </message>
    <message>
        <source>Mean loss</source>
        <translation>Pérdida media</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Estado</translation>
    </message>
    <message>
        <source>Attempt</source>
        <translation>Intento</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Pérdida</translation>
    </message>
    <message>
        <source>Lost</source>
        <translation>Perdidos</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>Terminó</translation>
    </message>
    <message>
        <source>Claim</source>
        <translation>Reserva</translation>
    </message>
    <message>
        <source>Begun</source>
        <translation>Empezó</translation>
    </message>
    <message>
        <source>Outcome</source>
        <translation>Resultado</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Dispositivo</translation>
    </message>
    <message>
        <source>Started</source>
        <translation>Iniciado</translation>
    </message>
    <message>
        <source>Phase, or why it ended</source>
        <translation>Fase o causa de su final</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Velocidad</translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation>Punto de control</translation>
    </message>
    <message>
        <source>Of</source>
        <translation>De</translation>
    </message>
    <message>
        <source>merge</source>
        <translation>fusión</translation>
    </message>
    <message>
        <source>replica %1</source>
        <translation>réplica %1</translation>
    </message>
    <message>
        <source>Saved</source>
        <translation>Guardado</translation>
    </message>
    <message>
        <source>Eval loss</source>
        <translation>Pérdida de evaluación</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Tamaño</translation>
    </message>
    <message>
        <source>damaged</source>
        <translation>dañado</translation>
    </message>
    <message>
        <source>Finding</source>
        <translation>Hallazgo</translation>
    </message>
    <message>
        <source>Trainings</source>
        <translation>Entrenamientos</translation>
    </message>
    <message>
        <source>What and why</source>
        <translation>Qué y por qué</translation>
    </message>
    <message>
        <source>%1 → %2</source>
        <translation>%1 → %2</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>Age</source>
        <translation>Antigüedad</translation>
    </message>
    <message>
        <source>left behind</source>
        <translation>abandonado</translation>
    </message>
    <message>
        <source>checking…</source>
        <translation>comprobando…</translation>
    </message>
    <message>
        <source>not checked yet</source>
        <translation>sin comprobar todavía</translation>
    </message>
    <message>
        <source>verified at %1</source>
        <translation>verificado (%1)</translation>
    </message>
    <message>
        <source>Verified</source>
        <translation>Verificado</translation>
    </message>
    <message>
        <source>removed</source>
        <translation>borrado</translation>
    </message>
    <message>
        <source>best</source>
        <translation>el mejor</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>fijado</translation>
    </message>
    <message>
        <source>Mark</source>
        <translation>Marca</translation>
    </message>
    <message>
        <source>%1 (begun with %2)</source>
        <translation>%1 (empezó con %2)</translation>
    </message>
    <message>
        <source>cannot be read</source>
        <translation>no se puede leer</translation>
    </message>
    <message>
        <source>newest of its replica</source>
        <translation>el más reciente de su réplica</translation>
    </message>
    <message>
        <source>Epoch</source>
        <translation>Época</translation>
    </message>
    <message>
        <source>%1 to C%2</source>
        <translation>%1 a C%2</translation>
    </message>
    <message>
        <source>training %1</source>
        <translation>entrenamiento %1</translation>
    </message>
    <message>
        <source>data %1</source>
        <translation>datos %1</translation>
    </message>
    <message>
        <source>merging %1</source>
        <translation>fusión %1</translation>
    </message>
    <message>
        <source>checkpoints %1</source>
        <translation>puntos de control %1</translation>
    </message>
    <message>
        <source>evaluation %1</source>
        <translation>evaluación %1</translation>
    </message>
    <message>
        <source>ledger %1</source>
        <translation>registro %1</translation>
    </message>
    <message>
        <source>telemetry %1</source>
        <translation>telemetría %1</translation>
    </message>
    <message>
        <source>It took %1: %2</source>
        <translation>Tardó %1: %2</translation>
    </message>
    <message>
        <source>most trained</source>
        <translation>más entrenado</translation>
    </message>
    <message>
        <source>not alive, no end was recorded</source>
        <translation>no está vivo, no se registró el final</translation>
    </message>
    <message>
        <source>Partly trained</source>
        <translation>Entrenados en parte</translation>
    </message>
    <message>
        <source>Steps in it</source>
        <translation>Pasos en él</translation>
    </message>
    <message>
        <source>Optimiser steps that are in these weights, those of all replicas that were merged into them.</source>
        <translation>Pasos del optimizador que hay en estos pesos, los de todas las réplicas que se fusionaron en ellos.</translation>
    </message>
    <message>
        <source>Tokens in it</source>
        <translation>Tokens en él</translation>
    </message>
    <message>
        <source>Tokens that are in these weights, those of all replicas that were merged into them.</source>
        <translation>Tokens que hay en estos pesos, los de todas las réplicas que se fusionaron en ellos.</translation>
    </message>
    <message>
        <source>Own steps</source>
        <translation>Pasos propios</translation>
    </message>
    <message>
        <source>Optimiser steps that this worker has made, those whose work was lost too. Of a merge: those in the weights that it wrote.</source>
        <translation>Pasos del optimizador que ha dado este trabajador, también aquellos cuyo trabajo se perdió. De una fusión: los que hay en los pesos que escribió.</translation>
    </message>
    <message>
        <source>Own tokens</source>
        <translation>Tokens propios</translation>
    </message>
    <message>
        <source>saved later</source>
        <translation>guardado después</translation>
    </message>
    <message>
        <source>Work lost</source>
        <translation>Trabajo perdido</translation>
    </message>
    <message>
        <source>Tokens that this worker has trained, those whose work was lost too. Of a merge: those in the weights that it wrote. Where all workers train one model, worker 0 has those of all of them since the run began, and each other one its own part since its process started.</source>
        <translation>Tokens que ha entrenado este trabajador, también aquellos cuyo trabajo se perdió. De una fusión: los que hay en los pesos que escribió. Donde todos los trabajadores entrenan un solo modelo, el trabajador 0 tiene los de todos ellos desde que empezó la ejecución, y cada uno de los demás su propia parte desde que empezó su proceso.</translation>
    </message>
    <message>
        <source>Trained or begun, and their weights are gone: they are trained again. Below the meters of the overview it says how many went with their workers, by going back to an older checkpoint, and with damage.</source>
        <translation>Entrenados o empezados, pero sus pesos ya no existen: se entrenan otra vez. Bajo los medidores del resumen se indica cuántos se perdieron con sus trabajadores, al volver a un punto de control anterior y por daños.</translation>
    </message>
    <message>
        <source>Loss of the newest step that this worker told of, also where that step was lost with its weights.</source>
        <translation>Pérdida del último paso del que informó este trabajador, también si ese paso se perdió con sus pesos.</translation>
    </message>
</context>
<context>
    <name>Words</name>
    <message>
        <source>New</source>
        <translation>Nueva</translation>
    </message>
    <message>
        <source>Running</source>
        <translation>En marcha</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>En pausa</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>Deteniéndose</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Detenida</translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation>Interrumpida</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Fallida</translation>
    </message>
    <message>
        <source>Finished</source>
        <translation>Terminada</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>Desconocida</translation>
    </message>
    <message>
        <source>not prepared</source>
        <translation>sin preparar</translation>
    </message>
    <message>
        <source>free</source>
        <translation>libre</translation>
    </message>
    <message>
        <source>leased</source>
        <translation>reservado</translation>
    </message>
    <message>
        <source>trained</source>
        <translation>entrenado</translation>
    </message>
    <message>
        <source>committed</source>
        <translation>confirmado</translation>
    </message>
    <message>
        <source>excluded</source>
        <translation>excluido</translation>
    </message>
    <message>
        <source>poisoned</source>
        <translation>envenenado</translation>
    </message>
    <message>
        <source>poisoned, accepted</source>
        <translation>envenenado, aceptado</translation>
    </message>
    <message>
        <source>debug</source>
        <translation>depuración</translation>
    </message>
    <message>
        <source>info</source>
        <translation>información</translation>
    </message>
    <message>
        <source>warning</source>
        <translation>aviso</translation>
    </message>
    <message>
        <source>error</source>
        <translation>error</translation>
    </message>
    <message>
        <source>Block %1, chunk %2</source>
        <translation>Bloque %1, fragmento %2</translation>
    </message>
    <message>
        <source>worker %1</source>
        <translation>trabajador %1</translation>
    </message>
    <message>
        <source>%1 tok/s</source>
        <translation>%1 tok/s</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>%1 min %2 s</source>
        <translation>%1 min %2 s</translation>
    </message>
    <message>
        <source>%1 h %2 min</source>
        <translation>%1 h %2 min</translation>
    </message>
    <message>
        <source>%1 d %2 h</source>
        <translation>%1 d %2 h</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>%1 s ago</source>
        <translation>hace %1 s</translation>
    </message>
    <message>
        <source>%1 ago</source>
        <translation>hace %1</translation>
    </message>
    <message>
        <source>%1 · %2</source>
        <translation>%1 · %2</translation>
    </message>
    <message numerus="yes">
        <source>%n worker(s)</source>
        <translation>
            <numerusform>%n trabajador</numerusform>
            <numerusform>%n trabajadores</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 · attempt %2</source>
        <translation>%1 · intento %2</translation>
    </message>
    <message>
        <source>not started yet</source>
        <translation>aún sin iniciar</translation>
    </message>
    <message numerus="yes">
        <source>%n epoch(s) · %1</source>
        <translation>
            <numerusform>%n época · %1</numerusform>
            <numerusform>%n épocas · %1</numerusform>
        </translation>
    </message>
    <message>
        <source>Finished (marked by hand)</source>
        <translation>Terminada (marcada a mano)</translation>
    </message>
    <message>
        <source>finished (marked by hand) · %1</source>
        <translation>terminada (marcada a mano) · %1</translation>
    </message>
    <message>
        <source>%1 %2 → %3</source>
        <translation>%1 %2 → %3</translation>
    </message>
    <message numerus="yes">
        <source>%Ln chunk(s) · %1</source>
        <translation>
            <numerusform>%Ln fragmento · %1</numerusform>
            <numerusform>%Ln fragmentos · %1</numerusform>
        </translation>
    </message>
    <message>
        <source>warming up</source>
        <translation>preparándose</translation>
    </message>
    <message>
        <source>training</source>
        <translation>entrenando</translation>
    </message>
    <message>
        <source>evaluating</source>
        <translation>evaluando</translation>
    </message>
    <message>
        <source>saving a checkpoint</source>
        <translation>guardando un punto de control</translation>
    </message>
    <message>
        <source>merging</source>
        <translation>fusionando</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>esperando</translation>
    </message>
    <message>
        <source>ended</source>
        <translation>terminado</translation>
    </message>
    <message>
        <source>Epoch %1</source>
        <translation>Época %1</translation>
    </message>
    <message>
        <source>Epochs %1 and %2</source>
        <translation>Épocas %1 y %2</translation>
    </message>
    <message>
        <source>Epochs %1 to %2</source>
        <translation>Épocas %1 a %2</translation>
    </message>
    <message>
        <source>made %1</source>
        <translation>creada %1</translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s) left out as repeats of text before them.</source>
        <translation>
            <numerusform>%n muestra omitida por repetir un texto anterior.</numerusform>
            <numerusform>%n muestras omitidas por repetir textos anteriores.</numerusform>
        </translation>
    </message>
    <message>
        <source>When last read, at %1, the run was: %2.</source>
        <translation>Cuando se leyó por última vez (%1), la ejecución estaba: %2.</translation>
    </message>
    <message>
        <source>unknown since %1</source>
        <translation>no se sabe desde %1</translation>
    </message>
    <message>
        <source>A copy: %1 is the same run in another folder. Each goes on by itself.</source>
        <translation>Una copia: %1 es la misma ejecución en otra carpeta. Cada una sigue por su cuenta.</translation>
    </message>
    <message>
        <source>standing still</source>
        <translation>detenido</translation>
    </message>
    <message>
        <source>partly trained</source>
        <translation>entrenado en parte</translation>
    </message>
    <message>
        <source>%1 (lost)</source>
        <translation>%1 (perdida)</translation>
    </message>
    <message>
        <source>From steps that are in no checkpoint: their weights are gone, and they are trained again</source>
        <translation>De pasos que no están en ningún punto de control: sus pesos se han perdido y se entrenan de nuevo</translation>
    </message>
    <message>
        <source>“%1”</source>
        <translation>«%1»</translation>
    </message>
    <message>
        <source>Of all attempts, while a worker lived: without pauses, and without waits for data that cannot be reached. Hours to train for and tokens per second go by it.</source>
        <translation>De todos los intentos, mientras vivía un trabajador: sin pausas ni esperas de datos inaccesibles. De él dependen las horas de entrenamiento y los tokens por segundo.</translation>
    </message>
    <message>
        <source>Pausing</source>
        <translation>Pausando</translation>
    </message>
    <message>
        <source>In checkpoints and in the weights of living workers, with the chunks under way. What went with its weights is not among them.</source>
        <translation>En los puntos de control y en los pesos de los trabajadores vivos, con los fragmentos en curso. Lo que se perdió con sus pesos no cuenta.</translation>
    </message>
    <message numerus="yes">
        <source>Loss of the newest step, mean of %n worker(s), weighted by the tokens trained</source>
        <translation>
            <numerusform>Pérdida del último paso, media de %n trabajador, ponderada por los tokens entrenados</numerusform>
            <numerusform>Pérdida del último paso, media de %n trabajadores, ponderada por los tokens entrenados</numerusform>
        </translation>
    </message>
    <message>
        <source>work lost</source>
        <translation>trabajo perdido</translation>
    </message>
    <message>
        <source>trained by the parent run</source>
        <translation>entrenado por la ejecución padre</translation>
    </message>
    <message>
        <source>partly trained, the rest left out</source>
        <translation>entrenado en parte, el resto omitido</translation>
    </message>
    <message>
        <source>work lost, a part of it kept</source>
        <translation>trabajo perdido, se conserva una parte</translation>
    </message>
    <message>
        <source>%1 and %2 more</source>
        <translation>%1 y %2 más</translation>
    </message>
</context>
<context>
    <name>furrow::Actions</name>
    <message>
        <source>&amp;File</source>
        <translation>&amp;Archivo</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>&amp;Editar</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>&amp;Ver</translation>
    </message>
    <message>
        <source>&amp;Run</source>
        <translation>E&amp;jecución</translation>
    </message>
    <message>
        <source>&amp;Data</source>
        <translation>&amp;Datos</translation>
    </message>
    <message>
        <source>&amp;Tools</source>
        <translation>&amp;Herramientas</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>Ay&amp;uda</translation>
    </message>
    <message>
        <source>New run</source>
        <translation>Nueva ejecución</translation>
    </message>
    <message>
        <source>Choose data, model and devices, and start training</source>
        <translation>Elegir datos, modelo y dispositivos, y empezar a entrenar</translation>
    </message>
    <message>
        <source>New run from this one…</source>
        <translation>Nueva ejecución a partir de esta…</translation>
    </message>
    <message>
        <source>Start a new run with the configuration of the one shown</source>
        <translation>Empezar una ejecución nueva con la configuración de la mostrada</translation>
    </message>
    <message>
        <source>Open run folder…</source>
        <translation>Abrir carpeta de ejecución…</translation>
    </message>
    <message>
        <source>Show a run that lies outside the workspace</source>
        <translation>Mostrar una ejecución que está fuera del espacio de trabajo</translation>
    </message>
    <message>
        <source>Open workspace…</source>
        <translation>Abrir espacio de trabajo…</translation>
    </message>
    <message>
        <source>Save picture of the window…</source>
        <translation>Guardar imagen de la ventana…</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Salir</translation>
    </message>
    <message>
        <source>Close the console; training goes on</source>
        <translation>Cerrar la consola; el entrenamiento continúa</translation>
    </message>
    <message>
        <source>Filter runs</source>
        <translation>Filtrar ejecuciones</translation>
    </message>
    <message>
        <source>Find on this page</source>
        <translation>Buscar en esta página</translation>
    </message>
    <message>
        <source>Clear selection</source>
        <translation>Quitar la selección</translation>
    </message>
    <message>
        <source>Live</source>
        <translation>En vivo</translation>
    </message>
    <message>
        <source>Follow the run. Off freezes the views; the run goes on</source>
        <translation>Seguir la ejecución; al desactivarlo, las vistas se congelan y la ejecución sigue</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>Ajustar</translation>
    </message>
    <message>
        <source>Show everything</source>
        <translation>Mostrar todo</translation>
    </message>
    <message>
        <source>Logarithmic loss axis</source>
        <translation>Eje de pérdida logarítmico</translation>
    </message>
    <message>
        <source>Previous zoom</source>
        <translation>Volver al zoom anterior</translation>
    </message>
    <message>
        <source>Overview</source>
        <translation>Resumen</translation>
    </message>
    <message>
        <source>Charts</source>
        <translation>Gráficos</translation>
    </message>
    <message>
        <source>Coverage</source>
        <translation>Cobertura</translation>
    </message>
    <message>
        <source>Workers</source>
        <translation>Trabajadores</translation>
    </message>
    <message>
        <source>Config</source>
        <translation>Configuración</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Log</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>Datos</translation>
    </message>
    <message>
        <source>Reset layout</source>
        <translation>Restablecer disposición</translation>
    </message>
    <message>
        <source>Put every dock back in its place</source>
        <translation>Devolver cada panel a su lugar</translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation>Pantalla completa</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pausar</translation>
    </message>
    <message>
        <source>Pause at the end of the chunks in training</source>
        <translation>Pausar al final de los fragmentos en curso</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Detener</translation>
    </message>
    <message>
        <source>Stop after a checkpoint</source>
        <translation>Detener tras un punto de control</translation>
    </message>
    <message>
        <source>Kill…</source>
        <translation>Matar…</translation>
    </message>
    <message>
        <source>End all processes of the run now</source>
        <translation>Terminar ahora todos los procesos de la ejecución</translation>
    </message>
    <message>
        <source>Resume…</source>
        <translation>Reanudar…</translation>
    </message>
    <message>
        <source>Look at what a resume would do, then go on</source>
        <translation>Ver qué haría una reanudación y luego continuar</translation>
    </message>
    <message>
        <source>Save checkpoint now</source>
        <translation>Guardar punto de control ahora</translation>
    </message>
    <message>
        <source>Why this state?</source>
        <translation>¿Por qué este estado?</translation>
    </message>
    <message>
        <source>The evidence for the state of the run</source>
        <translation>Las pruebas del estado de la ejecución</translation>
    </message>
    <message>
        <source>Previous attempt</source>
        <translation>Intento anterior</translation>
    </message>
    <message>
        <source>Next attempt</source>
        <translation>Intento siguiente</translation>
    </message>
    <message>
        <source>Next alert</source>
        <translation>Aviso siguiente</translation>
    </message>
    <message>
        <source>Previous alert</source>
        <translation>Aviso anterior</translation>
    </message>
    <message>
        <source>Show selected chunk in the map</source>
        <translation>Mostrar el fragmento elegido en el mapa</translation>
    </message>
    <message>
        <source>Read samples of the selected chunk</source>
        <translation>Leer las muestras del fragmento elegido</translation>
    </message>
    <message>
        <source>Command palette</source>
        <translation>Paleta de órdenes</translation>
    </message>
    <message>
        <source>Find and run any command</source>
        <translation>Buscar y ejecutar cualquier orden</translation>
    </message>
    <message>
        <source>Copy path of the run</source>
        <translation>Copiar la ruta de la ejecución</translation>
    </message>
    <message>
        <source>Open folder of the run</source>
        <translation>Abrir la carpeta de la ejecución</translation>
    </message>
    <message>
        <source>Shortcuts</source>
        <translation>Atajos</translation>
    </message>
    <message>
        <source>What the words mean</source>
        <translation>Qué significan las palabras</translation>
    </message>
    <message>
        <source>About Furrow</source>
        <translation>Acerca de Furrow</translation>
    </message>
    <message>
        <source>Compare runs…</source>
        <translation>Comparar ejecuciones…</translation>
    </message>
    <message>
        <source>All runs as a table; compare two to eight of them side by side</source>
        <translation>Todas las ejecuciones en una tabla, de dos a ocho lado a lado</translation>
    </message>
    <message>
        <source>Save page as picture…</source>
        <translation>Guardar página como imagen…</translation>
    </message>
    <message>
        <source>Replay</source>
        <translation>Repetición</translation>
    </message>
    <message>
        <source>Play back the history of the run</source>
        <translation>Reproducir el historial de la ejecución</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>Muestreo</translation>
    </message>
    <message>
        <source>Save perspective…</source>
        <translation>Guardar perspectiva…</translation>
    </message>
    <message>
        <source>Save docks and page under a name of your own</source>
        <translation>Guardar paneles y página con un nombre propio</translation>
    </message>
    <message>
        <source>Remove this perspective</source>
        <translation>Quitar esta perspectiva</translation>
    </message>
    <message>
        <source>Put into the queue</source>
        <translation>Poner en la cola</translation>
    </message>
    <message>
        <source>Starts by itself when its devices are free</source>
        <translation>Empieza sola cuando sus dispositivos están libres</translation>
    </message>
    <message>
        <source>Tags and note…</source>
        <translation>Etiquetas y nota…</translation>
    </message>
    <message>
        <source>Archived</source>
        <translation>Archivada</translation>
    </message>
    <message>
        <source>Leave this run out of the library</source>
        <translation>Dejar esta ejecución fuera de la biblioteca</translation>
    </message>
    <message>
        <source>Move to trash…</source>
        <translation>Mover a la papelera…</translation>
    </message>
    <message>
        <source>Nothing is deleted; the folder moves inside the workspace</source>
        <translation>No se borra nada; la carpeta se mueve dentro del espacio de trabajo</translation>
    </message>
    <message>
        <source>Restore from trash…</source>
        <translation>Restaurar de la papelera…</translation>
    </message>
    <message>
        <source>Show selected chunk in the charts</source>
        <translation>Mostrar el fragmento elegido en los gráficos</translation>
    </message>
    <message>
        <source>Show selected chunk in the log</source>
        <translation>Mostrar el fragmento elegido en el log</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>Cola</translation>
    </message>
    <message>
        <source>Runs that wait for their devices</source>
        <translation>Ejecuciones que esperan sus dispositivos</translation>
    </message>
    <message>
        <source>Alerts…</source>
        <translation>Avisos…</translation>
    </message>
    <message>
        <source>What is an alert, and who is told</source>
        <translation>Qué es un aviso y a quién se avisa</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Ayuda</translation>
    </message>
    <message>
        <source>Save loss chart as picture…</source>
        <translation>Guardar gráfico de pérdida como imagen…</translation>
    </message>
    <message>
        <source>As PNG, SVG or PDF</source>
        <translation>Como PNG, SVG o PDF</translation>
    </message>
    <message>
        <source>Save loss chart as table…</source>
        <translation>Guardar gráfico de pérdida como tabla…</translation>
    </message>
    <message>
        <source>The visible points as CSV</source>
        <translation>Los puntos visibles como CSV</translation>
    </message>
    <message>
        <source>Quarantine selected chunks…</source>
        <translation>Aislar los fragmentos elegidos…</translation>
    </message>
    <message>
        <source>Leave them out of the next run</source>
        <translation>Excluirlos de la próxima ejecución</translation>
    </message>
    <message>
        <source>Quarantine list…</source>
        <translation>Lista de cuarentena…</translation>
    </message>
    <message>
        <source>Chunks, samples and patterns that later runs leave out</source>
        <translation>Fragmentos, muestras y patrones que las próximas ejecuciones excluyen</translation>
    </message>
    <message>
        <source>Brain…</source>
        <translation>Cerebro…</translation>
    </message>
    <message>
        <source>Its weights, and the runs they came from</source>
        <translation>Sus pesos y las ejecuciones de las que proceden</translation>
    </message>
    <message>
        <source>Merge replicas…</source>
        <translation>Fusionar réplicas…</translation>
    </message>
    <message>
        <source>Make one model of what the workers trained separately, and compare the losses</source>
        <translation>Hacer un solo modelo de lo que los trabajadores entrenaron por separado y comparar las pérdidas</translation>
    </message>
    <message>
        <source>Mark finished</source>
        <translation>Marcar como terminada</translation>
    </message>
    <message>
        <source>Accept the run as it is. It can still be resumed later.</source>
        <translation>Aceptar la ejecución como terminada tal como está. Se puede reanudar más adelante.</translation>
    </message>
    <message>
        <source>Resume by itself when interrupted</source>
        <translation>Reanudar por sí misma si se interrumpe</translation>
    </message>
    <message>
        <source>Up to %1 times, with longer waits each time</source>
        <translation>Hasta %1 veces, con esperas cada vez más largas</translation>
    </message>
    <message>
        <source>Export run…</source>
        <translation>Exportar ejecución…</translation>
    </message>
    <message>
        <source>A report, the measurements, the model, or a bundle for developers</source>
        <translation>Un informe, las mediciones, el modelo o un paquete para desarrolladores</translation>
    </message>
    <message>
        <source>Leave out of the library</source>
        <translation>Quitar de la biblioteca</translation>
    </message>
    <message>
        <source>For a run outside the workspace; its folder stays as it is</source>
        <translation>Para una ejecución fuera del espacio de trabajo; su carpeta queda como está</translation>
    </message>
    <message>
        <source>The shown page as PNG, SVG or PDF</source>
        <translation>La página mostrada como PNG, SVG o PDF</translation>
    </message>
    <message>
        <source>Start demonstration run</source>
        <translation>Iniciar ejecución de demostración</translation>
    </message>
    <message>
        <source>Train a small text that comes with Furrow on the CPU</source>
        <translation>Entrenar en la CPU un texto pequeño incluido en Furrow</translation>
    </message>
    <message>
        <source>Stop after this block</source>
        <translation>Detener tras este bloque</translation>
    </message>
    <message>
        <source>Stop when the next block is complete</source>
        <translation>Acabar con el próximo bloque que se complete</translation>
    </message>
    <message>
        <source>Stop after this epoch</source>
        <translation>Detener tras esta época</translation>
    </message>
    <message>
        <source>Stop at the end of the current epoch</source>
        <translation>Acabar con la época que se está entrenando</translation>
    </message>
    <message>
        <source>Evaluate now</source>
        <translation>Evaluar ahora</translation>
    </message>
    <message>
        <source>Each worker evaluates its weights on the held-out text at its next step</source>
        <translation>Cada trabajador evalúa sus pesos con el texto reservado en su próximo paso</translation>
    </message>
    <message>
        <source>Try poisoned chunks again</source>
        <translation>Reintentar fragmentos envenenados</translation>
    </message>
    <message>
        <source>Prepare and train them once more: those selected, otherwise all</source>
        <translation>Prepararlos y entrenarlos otra vez; los seleccionados o, si no hay, todos</translation>
    </message>
    <message>
        <source>Accept poisoned chunks…</source>
        <translation>Aceptar fragmentos envenenados…</translation>
    </message>
    <message>
        <source>They stay untrained and are named, and the epoch can end without them: those selected, otherwise all</source>
        <translation>Quedan sin entrenar y constan por su nombre, y la época puede terminar sin ellos; los seleccionados o, si no hay, todos</translation>
    </message>
    <message>
        <source>not possible now</source>
        <translation>ahora no es posible</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <source>Audit the run</source>
        <translation>Auditar la ejecución</translation>
    </message>
    <message>
        <source>The proof: each chunk is in the weights once, and weights and blocks are as recorded, by their SHA-256</source>
        <translation>La prueba: cada fragmento está una vez en los pesos, y pesos y bloques son los registrados, según su SHA-256</translation>
    </message>
    <message>
        <source>Audit the ledger alone</source>
        <translation>Auditar solo el registro</translation>
    </message>
    <message>
        <source>The same proof in seconds; weights and blocks are not inspected</source>
        <translation>La misma prueba en segundos; no se inspeccionan pesos ni bloques</translation>
    </message>
    <message>
        <source>Leave selected chunks out of this run…</source>
        <translation>Excluir de esta ejecución los fragmentos elegidos…</translation>
    </message>
    <message>
        <source>Those that are not trained yet are not trained in this epoch, nor in later ones</source>
        <translation>Los que aún no se han entrenado no se entrenan ni en esta época ni en las siguientes</translation>
    </message>
    <message>
        <source>Collapse the lower docks</source>
        <translation>Contraer los paneles inferiores</translation>
    </message>
    <message>
        <source>Only their tabs are left. A double click on a tab does the same, a click on it brings them back</source>
        <translation>Solo quedan sus pestañas. Un doble clic en una pestaña hace lo mismo y un clic los devuelve</translation>
    </message>
</context>
<context>
    <name>furrow::AlertList</name>
    <message numerus="yes">
        <source>%n more; J and K step through them</source>
        <translation>
            <numerusform>%n más; J y K los recorren</numerusform>
            <numerusform>%n más; J y K los recorren</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>furrow::AlertsDialog</name>
    <message>
        <source>Show a notification of the desktop when this window is not in front</source>
        <translation>Mostrar una notificación del escritorio cuando esta ventana no esté delante</translation>
    </message>
    <message>
        <source>Alerts</source>
        <translation>Avisos</translation>
    </message>
    <message>
        <source>after</source>
        <translation>después de</translation>
    </message>
    <message>
        <source>below</source>
        <translation>por debajo de</translation>
    </message>
    <message>
        <source>above</source>
        <translation>por encima de</translation>
    </message>
    <message>
        <source>Command to run for each alert</source>
        <translation>Orden para cada aviso</translation>
    </message>
    <message>
        <source>none</source>
        <translation>ninguna</translation>
    </message>
    <message>
        <source>Run without a shell. FURROW_RUN, FURROW_ALERT and FURROW_TEXT are in its environment.</source>
        <translation>Se ejecuta sin shell. FURROW_RUN, FURROW_ALERT y FURROW_TEXT están en su entorno.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
    <message>
        <source>Save alerts</source>
        <translation>Guardar avisos</translation>
    </message>
    <message>
        <source>s</source>
        <translation>s</translation>
    </message>
    <message>
        <source>GiB</source>
        <translation>GiB</translation>
    </message>
    <message>
        <source>nats</source>
        <translation>nats</translation>
    </message>
    <message>
        <source>%</source>
        <translation>%</translation>
    </message>
</context>
<context>
    <name>furrow::Appearance</name>
    <message>
        <source>Dark</source>
        <translation>Oscuro</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Claro</translation>
    </message>
    <message>
        <source>Same as the system</source>
        <translation>Como el sistema</translation>
    </message>
</context>
<context>
    <name>furrow::AuditDock</name>
    <message>
        <source>Check now</source>
        <translation>Comprobar ahora</translation>
    </message>
    <message>
        <source>Checking every chunk…</source>
        <translation>Comprobando cada fragmento…</translation>
    </message>
    <message>
        <source>No chunk is known yet.</source>
        <translation>Aún no se conoce ningún fragmento.</translation>
    </message>
    <message>
        <source>Save report…</source>
        <translation>Guardar informe…</translation>
    </message>
    <message>
        <source>Worker %1</source>
        <translation>Trabajador %1</translation>
    </message>
    <message>
        <source>attempt %1</source>
        <translation>intento %1</translation>
    </message>
    <message>
        <source>Save report</source>
        <translation>Guardar informe</translation>
    </message>
    <message>
        <source>Reports</source>
        <translation>Informes</translation>
    </message>
    <message>
        <source>Check weights and files</source>
        <translation>Comprobar archivos</translation>
    </message>
    <message>
        <source>Read the data again</source>
        <translation>Releer los datos</translation>
    </message>
    <message>
        <source>Prepares every block from the source once more and compares the samples by their fingerprints. This takes as long as preparing did.</source>
        <translation>Prepara cada bloque otra vez desde la fuente y compara las muestras por sus huellas. Tarda tanto como tardó la preparación.</translation>
    </message>
    <message>
        <source>Reads the newest weights and the prepared blocks and compares their SHA-256 with what was recorded.</source>
        <translation>Lee los pesos más recientes y los bloques preparados y compara su SHA-256 con lo anotado.</translation>
    </message>
    <message>
        <source>Stopped. The weights were not inspected.</source>
        <translation>Detenido. Los pesos no se inspeccionaron.</translation>
    </message>
    <message>
        <source>Stop checking</source>
        <translation>Dejar de comprobar</translation>
    </message>
    <message>
        <source>Chunks twice or missing</source>
        <translation>Fragmentos repetidos o ausentes</translation>
    </message>
    <message>
        <source>Show report</source>
        <translation>Ver informe</translation>
    </message>
    <message numerus="yes">
        <source>No chunk twice, none missing; weights and files are as recorded. %Ln chunk(s) checked at %1.</source>
        <translation>
            <numerusform>Ningún fragmento repetido ni ausente; pesos y archivos son los anotados. %Ln fragmento comprobado a las %1.</numerusform>
            <numerusform>Ningún fragmento repetido ni ausente; pesos y archivos son los anotados. %Ln fragmentos comprobados a las %1.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>No chunk twice, none missing, but not everything could be inspected: see below. %Ln chunk(s) checked at %1.</source>
        <translation>
            <numerusform>Ningún fragmento repetido ni ausente, pero no todo se pudo inspeccionar: véase abajo. %Ln fragmento comprobado a las %1.</numerusform>
            <numerusform>Ningún fragmento repetido ni ausente, pero no todo se pudo inspeccionar: véase abajo. %Ln fragmentos comprobados a las %1.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>No chunk twice, none missing. %Ln chunk(s) checked at %1; weights not inspected.</source>
        <translation>
            <numerusform>Ningún fragmento repetido ni ausente. %Ln fragmento comprobado a las %1; pesos no inspeccionados.</numerusform>
            <numerusform>Ningún fragmento repetido ni ausente. %Ln fragmentos comprobados a las %1; pesos no inspeccionados.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Problems found: see below. %Ln chunk(s) checked at %1.</source>
        <translation>
            <numerusform>Hay problemas: véase abajo. %Ln fragmento comprobado a las %1.</numerusform>
            <numerusform>Hay problemas: véase abajo. %Ln fragmentos comprobados a las %1.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Trained twice: %1. Missing: %2. %Ln chunk(s) checked at %3.</source>
        <translation>
            <numerusform>Entrenados dos veces: %1. Ausentes: %2. %Ln fragmento comprobado a las %3.</numerusform>
            <numerusform>Entrenados dos veces: %1. Ausentes: %2. %Ln fragmentos comprobados a las %3.</numerusform>
        </translation>
    </message>
    <message>
        <source>No run is shown.</source>
        <translation>No se muestra ninguna ejecución.</translation>
    </message>
</context>
<context>
    <name>furrow::BoxRows</name>
    <message>
        <source>%1: median %2, from %3 to %4</source>
        <translation>%1: mediana %2, de %3 a %4</translation>
    </message>
</context>
<context>
    <name>furrow::BrainDialog</name>
    <message>
        <source>nothing yet</source>
        <translation>nada todavía</translation>
    </message>
    <message>
        <source>epoch %1, complete</source>
        <translation>época %1 completa</translation>
    </message>
    <message>
        <source>epoch %1: %2 of %3 chunks</source>
        <translation>época %1: %2 de %3 fragmentos</translation>
    </message>
    <message>
        <source>, </source>
        <translation>, </translation>
    </message>
    <message>
        <source>other data</source>
        <translation>otros datos</translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s) of the same data</source>
        <translation>
            <numerusform>%n fragmento de los mismos datos</numerusform>
            <numerusform>%n fragmentos de los mismos datos</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, then left out</source>
        <translation>%1, después omitidos</translation>
    </message>
    <message>
        <source>%1, then trained again</source>
        <translation>%1, después entrenados otra vez</translation>
    </message>
    <message>
        <source>%1 is no longer there</source>
        <translation>%1 ya no está</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Ejecución</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Pesos</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Pasos</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>Had seen before</source>
        <translation>Había visto</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>Leyendo…</translation>
    </message>
    <message>
        <source>Runs the weights came from</source>
        <translation>Ejecuciones de las que proceden los pesos</translation>
    </message>
    <message>
        <source>Brain of %1</source>
        <translation>Cerebro de %1</translation>
    </message>
    <message>
        <source>A brain is what remains when runs end: the weights, their tokenizer, and what they have seen. A new run from a checkpoint continues with it.</source>
        <translation>Un cerebro es lo que queda cuando terminan las ejecuciones: los pesos, su tokenizador y lo que han visto. Una ejecución nueva desde un punto de control continúa con él.</translation>
    </message>
    <message>
        <source>Open that run</source>
        <translation>Abrir esa ejecución</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
    <message>
        <source>This run has no weights of its own yet.</source>
        <translation>Esta ejecución todavía no tiene pesos propios.</translation>
    </message>
    <message>
        <source>Tokenizer: %1, %2 tokens</source>
        <translation>Tokenizador: %1, %2 tokens</translation>
    </message>
    <message>
        <source>Weights: %1 (%2), loss %3 on held-out text</source>
        <translation>Pesos: %1 (%2), pérdida %3 en el texto reservado</translation>
    </message>
    <message>
        <source>Weights: %1 (%2)</source>
        <translation>Pesos: %1 (%2)</translation>
    </message>
</context>
<context>
    <name>furrow::ChangedSettings</name>
    <message>
        <source>No setting is changed.</source>
        <translation>No cambia ningún ajuste.</translation>
    </message>
    <message>
        <source>from %1 to %2</source>
        <translation>de %1 a %2</translation>
    </message>
    <message>
        <source>Safe</source>
        <translation>Seguro</translation>
    </message>
    <message>
        <source>Not safe: curves before and after cannot be compared</source>
        <translation>No seguro: las curvas de antes y después no son comparables</translation>
    </message>
</context>
<context>
    <name>furrow::ChartSettings</name>
    <message>
        <source>Display</source>
        <translation>Presentación</translation>
    </message>
    <message>
        <source>Smooth over</source>
        <translation>Suavizar sobre</translation>
    </message>
    <message>
        <source>2 % of all</source>
        <translation>2 % de todo</translation>
    </message>
    <message>
        <source>Smoothing width in units of the horizontal axis, for example 20M. Empty: a fiftieth of the whole range</source>
        <translation>Anchura del suavizado en unidades del eje horizontal, por ejemplo 20M; vacío: una quincuagésima parte de todo</translation>
    </message>
    <message>
        <source>Raw points</source>
        <translation>Puntos sin suavizar</translation>
    </message>
    <message>
        <source>What was measured, behind the smoothed curves</source>
        <translation>Lo medido, detrás de las curvas suavizadas</translation>
    </message>
    <message>
        <source>Mean of the workers</source>
        <translation>Media de los trabajadores</translation>
    </message>
    <message>
        <source>Weighted by their tokens</source>
        <translation>Ponderada por sus tokens</translation>
    </message>
    <message>
        <source>Logarithmic horizontal axis</source>
        <translation>Eje horizontal logarítmico</translation>
    </message>
    <message>
        <source>Logarithmic loss axis</source>
        <translation>Eje de pérdida logarítmico</translation>
    </message>
    <message>
        <source>Perplexity at the right</source>
        <translation>Perplejidad a la derecha</translation>
    </message>
    <message>
        <source>e to the power of the loss</source>
        <translation>e elevado a la pérdida</translation>
    </message>
    <message>
        <source>Show every point</source>
        <translation>Abarcar todos los puntos</translation>
    </message>
    <message>
        <source>Otherwise the few most extreme points are clipped, with an arrow and their value</source>
        <translation>Si no, los pocos puntos más extremos se recortan, con una flecha y su valor</translation>
    </message>
    <message>
        <source>Ranges</source>
        <translation>Rangos</translation>
    </message>
    <message>
        <source>Loss from</source>
        <translation>Pérdida desde</translation>
    </message>
    <message>
        <source>automatic</source>
        <translation>automático</translation>
    </message>
    <message>
        <source>Loss to</source>
        <translation>Pérdida hasta</translation>
    </message>
    <message>
        <source>x from</source>
        <translation>x desde</translation>
    </message>
    <message>
        <source>everything</source>
        <translation>todo</translation>
    </message>
    <message>
        <source>x to</source>
        <translation>x hasta</translation>
    </message>
    <message>
        <source>Charts below</source>
        <translation>Gráficos inferiores</translation>
    </message>
    <message>
        <source>seconds</source>
        <translation>segundos</translation>
    </message>
</context>
<context>
    <name>furrow::ChartsPage</name>
    <message>
        <source>Horizontal axis</source>
        <translation>Eje horizontal</translation>
    </message>
    <message>
        <source>Steps of each worker</source>
        <translation>Pasos de cada trabajador</translation>
    </message>
    <message>
        <source>Time of day</source>
        <translation>Hora</translation>
    </message>
    <message>
        <source>Active time</source>
        <translation>Tiempo activo</translation>
    </message>
    <message>
        <source>x: %1</source>
        <translation>x: %1</translation>
    </message>
    <message>
        <source>Smoothing</source>
        <translation>Suavizado</translation>
    </message>
    <message>
        <source>EMA</source>
        <translation>EMA</translation>
    </message>
    <message>
        <source>EMA, both ways</source>
        <translation>EMA en ambos sentidos</translation>
    </message>
    <message>
        <source>Gaussian</source>
        <translation>Gaussiano</translation>
    </message>
    <message>
        <source>Median</source>
        <translation>Mediana</translation>
    </message>
    <message>
        <source>none</source>
        <translation>ninguno</translation>
    </message>
    <message>
        <source>Smooth: %1</source>
        <translation>Suavizar: %1</translation>
    </message>
    <message>
        <source>Back to live</source>
        <translation>Seguir en vivo</translation>
    </message>
    <message>
        <source>Training loss</source>
        <translation>Pérdida de entrenamiento</translation>
    </message>
    <message>
        <source>Visible range</source>
        <translation>Rango visible</translation>
    </message>
    <message>
        <source>No steps recorded yet.</source>
        <translation>Aún no hay pasos registrados.</translation>
    </message>
    <message>
        <source>No steps recorded yet. Worker %1: %2.</source>
        <translation>Aún no hay pasos registrados. Trabajador %1: %2.</translation>
    </message>
    <message>
        <source>Statistics</source>
        <translation>Estadística</translation>
    </message>
    <message>
        <source>Extremes and means of what is visible, for each worker</source>
        <translation>Extremos y medias de lo visible, por trabajador</translation>
    </message>
    <message>
        <source>Display</source>
        <translation>Presentación</translation>
    </message>
    <message>
        <source>Smoothing width, scales, numeric ranges and which charts there are</source>
        <translation>Anchura del suavizado, escalas, rangos numéricos y qué gráficos hay</translation>
    </message>
    <message>
        <source>Tokens trained, all workers</source>
        <translation>Tokens entrenados, en total</translation>
    </message>
    <message>
        <source>Steps made, all workers</source>
        <translation>Pasos hechos, en total</translation>
    </message>
    <message>
        <source>Samples trained, all workers</source>
        <translation>Muestras entrenadas, en total</translation>
    </message>
    <message>
        <source>Epochs, by samples trained</source>
        <translation>Épocas, por muestras entrenadas</translation>
    </message>
    <message>
        <source>Tokens, samples, epochs and steps of all workers count all that was trained: what was lost with its weights and trained again is in them twice.</source>
        <translation>Tokens, muestras, épocas y pasos de todos los trabajadores cuentan todo lo entrenado: lo que se perdió con sus pesos y se entrenó de nuevo está dos veces.</translation>
    </message>
</context>
<context>
    <name>furrow::ChatColumn</name>
    <message>
        <source>Nothing has been said yet. Hold the pointer over a word of the model to see how likely it was.</source>
        <translation>Todavía no se ha dicho nada. Deje el puntero sobre una palabra del modelo para ver lo probable que era.</translation>
    </message>
    <message>
        <source>Writing…</source>
        <translation>Escribiendo…</translation>
    </message>
    <message>
        <source>Loading the weights…</source>
        <translation>Cargando los pesos…</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>Leyendo…</translation>
    </message>
    <message>
        <source>You</source>
        <translation>Usted</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modelo</translation>
    </message>
    <message>
        <source>%1, step %2</source>
        <translation>%1, paso %2</translation>
    </message>
    <message>
        <source>no chat format: the text is continued</source>
        <translation>sin formato de chat: el texto se continúa</translation>
    </message>
    <message>
        <source>From here on with newer weights: %1, step %2</source>
        <translation>Desde aquí con pesos más recientes: %1, paso %2</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s), %1 per second</source>
        <translation>
            <numerusform>%Ln token, %1 por segundo</numerusform>
            <numerusform>%Ln tokens, %1 por segundo</numerusform>
        </translation>
    </message>
    <message>
        <source>%1. Cut off before the model had ended.</source>
        <translation>%1. Cortado antes de que el modelo terminara.</translation>
    </message>
    <message>
        <source>The tokenizer has nothing for: %1</source>
        <translation>El tokenizador no tiene nada para: %1</translation>
    </message>
    <message>
        <source>%1 What was said is forgotten; say something to begin again.</source>
        <translation>%1 Lo dicho se ha olvidado; diga algo para empezar de nuevo.</translation>
    </message>
</context>
<context>
    <name>furrow::ChatPage</name>
    <message>
        <source>Weights</source>
        <translation>Pesos</translation>
    </message>
    <message>
        <source>Beside them</source>
        <translation>Al lado</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Dispositivo</translation>
    </message>
    <message>
        <source>Tokens of an answer, at most</source>
        <translation>Tokens de una respuesta, como máximo</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>Talk</source>
        <translation>Conversación</translation>
    </message>
    <message>
        <source>Talk beside it</source>
        <translation>Conversación de al lado</translation>
    </message>
    <message>
        <source>Say something. Enter sends it, Shift and Enter begins a new line.</source>
        <translation>Diga algo. Intro lo envía, Mayús e Intro empieza una línea nueva.</translation>
    </message>
    <message>
        <source>What you say</source>
        <translation>Su mensaje</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Enviar</translation>
    </message>
    <message>
        <source>New talk</source>
        <translation>Conversación nueva</translation>
    </message>
    <message>
        <source>The model forgets what was said</source>
        <translation>El modelo olvida lo dicho</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Detener</translation>
    </message>
</context>
<context>
    <name>furrow::ChatSession</name>
    <message>
        <source>%1 ended: %2.</source>
        <translation>%1 terminó: %2.</translation>
    </message>
</context>
<context>
    <name>furrow::CheckpointChoices</name>
    <message>
        <source>Checkpoint</source>
        <translation>Punto de control</translation>
    </message>
    <message>
        <source>Before the stop</source>
        <translation>Antes de la parada</translation>
    </message>
    <message>
        <source>Eval loss</source>
        <translation>Pérdida de eval.</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Archivos</translation>
    </message>
    <message>
        <source>Start weights</source>
        <translation>Pesos iniciales</translation>
    </message>
    <message>
        <source>Verified</source>
        <translation>Verificado</translation>
    </message>
    <message>
        <source>%1, merge</source>
        <translation>%1, fusión</translation>
    </message>
    <message>
        <source>%1, replica %2</source>
        <translation>%1, réplica %2</translation>
    </message>
    <message>
        <source>%1, best</source>
        <translation>%1, el mejor</translation>
    </message>
    <message>
        <source>Damaged</source>
        <translation>Dañado</translation>
    </message>
    <message>
        <source>at the stop</source>
        <translation>al detenerse</translation>
    </message>
    <message>
        <source>The newest of each replica</source>
        <translation>El más reciente de cada réplica</translation>
    </message>
    <message>
        <source>Cannot be read</source>
        <translation>No se puede leer</translation>
    </message>
    <message numerus="yes">
        <source>%Ln more checkpoint(s) damaged or not readable</source>
        <translation>
            <numerusform>%Ln punto de control más, dañado o ilegible</numerusform>
            <numerusform>%Ln puntos de control más, dañados o ilegibles</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln checkpoint(s) left behind: the weights of the run did not grow from them</source>
        <translation>
            <numerusform>%Ln punto de control abandonado: los pesos de la ejecución no proceden de él</numerusform>
            <numerusform>%Ln puntos de control abandonados: los pesos de la ejecución no proceden de ellos</numerusform>
        </translation>
    </message>
    <message>
        <source>Chunks trained again</source>
        <translation>Fragmentos que se repiten</translation>
    </message>
    <message numerus="yes">
        <source>trains %Ln chunk(s) again</source>
        <translation>
            <numerusform>entrena %Ln fragmento de nuevo</numerusform>
            <numerusform>entrena %Ln fragmentos de nuevo</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>furrow::CheckpointPicker</name>
    <message>
        <source>Checkpoints of the run</source>
        <translation>Puntos de control de la ejecución</translation>
    </message>
    <message>
        <source>Start from a checkpoint</source>
        <translation>Empezar desde un punto de control</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Ejecución</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
    <message>
        <source>Start from this checkpoint</source>
        <translation>Empezar desde este punto de control</translation>
    </message>
    <message>
        <source>No runs in this workspace yet.</source>
        <translation>Aún no hay ejecuciones en este espacio de trabajo.</translation>
    </message>
    <message>
        <source>Reading the checkpoints…</source>
        <translation>Leyendo los puntos de control…</translation>
    </message>
    <message>
        <source>This run has no checkpoint yet.</source>
        <translation>Esta ejecución aún no tiene puntos de control.</translation>
    </message>
    <message>
        <source>The new run takes the weights and the settings of the model; its optimiser, data and epochs start afresh.</source>
        <translation>La ejecución nueva toma los pesos y los ajustes del modelo; su optimizador, sus datos y sus épocas empiezan de nuevo.</translation>
    </message>
</context>
<context>
    <name>furrow::ChunkSamplesView</name>
    <message>
        <source>As trained</source>
        <translation>Tal como se entrena</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>How samples are shown</source>
        <translation>Cómo se muestran las muestras</translation>
    </message>
    <message>
        <source>Samples of the chunk</source>
        <translation>Muestras del fragmento</translation>
    </message>
    <message>
        <source>Reading the samples…</source>
        <translation>Leyendo las muestras…</translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>%n más</numerusform>
            <numerusform>%n más</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%n token</numerusform>
            <numerusform>%n tokens</numerusform>
        </translation>
    </message>
    <message>
        <source>held out</source>
        <translation>reservada</translation>
    </message>
    <message>
        <source>occurs earlier in the block</source>
        <translation>ya aparece antes en el bloque</translation>
    </message>
    <message>
        <source>occurs first in %1, row %2</source>
        <translation>aparece por primera vez en %1, fila %2</translation>
    </message>
    <message>
        <source>not trained</source>
        <translation>no se entrena</translation>
    </message>
    <message>
        <source>Select a chunk to read its samples.</source>
        <translation>Elija un fragmento para leer sus muestras.</translation>
    </message>
    <message>
        <source>%1, row %2</source>
        <translation>%1, fila %2</translation>
    </message>
    <message>
        <source>on the quarantine list</source>
        <translation>en la lista de cuarentena</translation>
    </message>
    <message>
        <source>leave out</source>
        <translation>excluir</translation>
    </message>
    <message>
        <source>Worst first</source>
        <translation>Peores primero</translation>
    </message>
    <message>
        <source>Best first</source>
        <translation>Mejores primero</translation>
    </message>
    <message>
        <source>As stored</source>
        <translation>Como se guardaron</translation>
    </message>
    <message>
        <source>Order of the samples</source>
        <translation>Orden de las muestras</translation>
    </message>
    <message>
        <source>Of each chunk the losses of the six worst and the two best samples are kept, as they were when they were trained.</source>
        <translation>De cada fragmento se guardan las pérdidas de las seis peores muestras y de las dos mejores, tal como eran al entrenarlas.</translation>
    </message>
    <message>
        <source>%1 filtered</source>
        <translation>%1 filtradas</translation>
    </message>
    <message>
        <source>%1 held out</source>
        <translation>%1 reservadas</translation>
    </message>
    <message>
        <source>%1 unreadable</source>
        <translation>%1 ilegibles</translation>
    </message>
    <message>
        <source>loss %1</source>
        <translation>pérdida %1</translation>
    </message>
    <message>
        <source>%1 for training</source>
        <translation>%1 para entrenar</translation>
    </message>
    <message>
        <source>%1 rows: %2. %3 tokens of text.</source>
        <translation>%1 filas: %2. %3 tokens de texto.</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>%1 left out as repeats</source>
        <translation>%1 omitidas por repetidas</translation>
    </message>
    <message>
        <source>%1, row %2 cannot be used: it %3</source>
        <translation>%1, fila %2: no se puede usar: %3</translation>
    </message>
    <message>
        <source>%1 of them trained although their text occurs earlier in the block</source>
        <translation>%1 de ellas se entrenan aunque su texto ya aparece antes en el bloque</translation>
    </message>
    <message>
        <source>%1, row %2 (line %3) cannot be used: it %4</source>
        <translation>%1, fila %2 (línea %3): no se puede usar: %4</translation>
    </message>
    <message>
        <source>%1 What is learnt stands between « and ».</source>
        <translation>%1 Lo que se aprende está entre « y ».</translation>
    </message>
    <message>
        <source>Prompt and rejected answer</source>
        <translation>Petición y respuesta rechazada</translation>
    </message>
    <message>
        <source>Prompt and chosen answer</source>
        <translation>Petición y respuesta elegida</translation>
    </message>
</context>
<context>
    <name>furrow::CommandPalette</name>
    <message>
        <source>Command palette</source>
        <translation>Paleta de órdenes</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>Command, run, setting or chunk (B3 C17)</source>
        <translation>Orden, ejecución, ajuste o fragmento (B3 C17)</translation>
    </message>
    <message>
        <source>What was found</source>
        <translation>Lo encontrado</translation>
    </message>
    <message>
        <source>Nothing matches.</source>
        <translation>Nada coincide.</translation>
    </message>
    <message>
        <source>Show it in the map and in the inspector</source>
        <translation>Mostrarlo en el mapa y en el inspector</translation>
    </message>
    <message>
        <source>the map that is shown has no such chunk</source>
        <translation>el mapa que se muestra no tiene ese fragmento</translation>
    </message>
    <message>
        <source>Library: %1</source>
        <translation>Biblioteca: %1</translation>
    </message>
    <message>
        <source>New run: %1</source>
        <translation>Nueva ejecución: %1</translation>
    </message>
</context>
<context>
    <name>furrow::ComparePage</name>
    <message>
        <source>Curves</source>
        <translation>Curvas</translation>
    </message>
    <message>
        <source>By chunk</source>
        <translation>Por fragmento</translation>
    </message>
    <message>
        <source>Settings that differ</source>
        <translation>Ajustes que difieren</translation>
    </message>
    <message>
        <source>Summary</source>
        <translation>Resumen</translation>
    </message>
    <message>
        <source>Compare runs</source>
        <translation>Comparar ejecuciones</translation>
    </message>
    <message>
        <source>Filter runs</source>
        <translation>Filtrar ejecuciones</translation>
    </message>
    <message>
        <source>Pin as baseline</source>
        <translation>Fijar como referencia</translation>
    </message>
    <message>
        <source>Back to the runs</source>
        <translation>Volver a las ejecuciones</translation>
    </message>
    <message>
        <source>Runs with figures and settings</source>
        <translation>Ejecuciones con cifras y ajustes</translation>
    </message>
    <message>
        <source>Horizontal axis</source>
        <translation>Eje horizontal</translation>
    </message>
    <message>
        <source>Steps of each worker</source>
        <translation>Pasos de cada trabajador</translation>
    </message>
    <message>
        <source>Active time</source>
        <translation>Tiempo activo</translation>
    </message>
    <message>
        <source>x: %1</source>
        <translation>x: %1</translation>
    </message>
    <message>
        <source>Training loss</source>
        <translation>Pérdida de entrenamiento</translation>
    </message>
    <message>
        <source>Run compared with the baseline</source>
        <translation>Ejecución comparada con la referencia</translation>
    </message>
    <message>
        <source>Difference of the loss of each chunk</source>
        <translation>Diferencia de pérdida de cada fragmento</translation>
    </message>
    <message>
        <source>Select two to eight runs (Ctrl and click, or Ctrl and Space); the first one is the baseline.</source>
        <translation>Elija de dos a ocho ejecuciones (Ctrl y clic, o Ctrl y espacio); la primera es la referencia.</translation>
    </message>
    <message numerus="yes">
        <source>Reading %n run(s)…</source>
        <translation>
            <numerusform>Leyendo %n ejecución…</numerusform>
            <numerusform>Leyendo %n ejecuciones…</numerusform>
        </translation>
    </message>
    <message>
        <source>Baseline: %1</source>
        <translation>Referencia: %1</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Ejecución</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Estado</translation>
    </message>
    <message>
        <source>Eval loss</source>
        <translation>Pérdida de evaluación</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Pasos</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>Attempts</source>
        <translation>Intentos</translation>
    </message>
    <message>
        <source>Setting</source>
        <translation>Ajuste</translation>
    </message>
    <message>
        <source>not set</source>
        <translation>sin definir</translation>
    </message>
    <message>
        <source>All settings are the same.</source>
        <translation>Todos los ajustes son iguales.</translation>
    </message>
    <message>
        <source>Not comparable chunk by chunk: %1.</source>
        <translation>No se puede comparar fragmento a fragmento: %1.</translation>
    </message>
    <message>
        <source>Speed of single steps</source>
        <translation>Velocidad de cada paso</translation>
    </message>
    <message>
        <source>Speed of single steps of one worker each, in tokens per second: smallest, quartiles, largest</source>
        <translation>Velocidad de cada paso de un trabajador, en tokens por segundo: mínimo, cuartiles, máximo</translation>
    </message>
    <message numerus="yes">
        <source>%1, mean of %n worker(s)</source>
        <translation>
            <numerusform>%1, media de %n trabajador</numerusform>
            <numerusform>%1, media de %n trabajadores</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1, mean of %Ln chunk(s)</source>
        <translation>
            <numerusform>%1, media de %Ln fragmento</numerusform>
            <numerusform>%1, media de %Ln fragmentos</numerusform>
        </translation>
    </message>
    <message>
        <source>Loss, last step</source>
        <translation>Pérdida, último paso</translation>
    </message>
    <message>
        <source>Loss of the first epoch</source>
        <translation>Pérdida de la primera época</translation>
    </message>
    <message numerus="yes">
        <source>%n runs are selected; at most eight can be compared.</source>
        <translation>
            <numerusform>Hay %n ejecución elegida; se pueden comparar ocho como máximo.</numerusform>
            <numerusform>Hay %n ejecuciones elegidas; se pueden comparar ocho como máximo.</numerusform>
        </translation>
    </message>
    <message>
        <source>%1. As of %2</source>
        <translation>%1. A las %2</translation>
    </message>
    <message>
        <source>%1 of %2 alive</source>
        <translation>%1 de %2 activos</translation>
    </message>
    <message>
        <source>Workers</source>
        <translation>Trabajadores</translation>
    </message>
    <message>
        <source>Not comparable chunk by chunk.</source>
        <translation>No se pueden comparar fragmento a fragmento.</translation>
    </message>
    <message>
        <source>No chunk of the first epoch was trained by both yet.</source>
        <translation>Ningún fragmento de la primera época ha sido entrenado todavía por ambas.</translation>
    </message>
    <message>
        <source>%1 chunks of the first epoch in common, mean difference %2 nats, %3 better than the baseline.</source>
        <translation>%1 fragmentos de la primera época en común, diferencia media %2 nats, %3 mejores que la referencia.</translation>
    </message>
    <message>
        <source>Tokens trained, all workers</source>
        <translation>Tokens entrenados, en total</translation>
    </message>
    <message>
        <source>Samples trained, all workers</source>
        <translation>Muestras entrenadas, en total</translation>
    </message>
    <message>
        <source>Kept tokens per active second</source>
        <translation>Tokens conservados por segundo activo</translation>
    </message>
    <message>
        <source>1 chunk of the first epoch in common, difference %1 nats.</source>
        <translation>1 fragmento de la primera época en común, diferencia %1 nats.</translation>
    </message>
    <message>
        <source>units differ: %1</source>
        <translation>unidades distintas: %1</translation>
    </message>
</context>
<context>
    <name>furrow::ConfigPage</name>
    <message>
        <source>Find a setting</source>
        <translation>Buscar un ajuste</translation>
    </message>
    <message>
        <source>Different from the preset</source>
        <translation>Distinto del preajuste</translation>
    </message>
    <message>
        <source>New run from this…</source>
        <translation>Nueva ejecución desde esta…</translation>
    </message>
    <message>
        <source>Configuration</source>
        <translation>Configuración</translation>
    </message>
    <message>
        <source>Preset %1, made %2 by Furrow %3, data %4</source>
        <translation>Preajuste %1, creada %2 por Furrow %3, datos %4</translation>
    </message>
    <message>
        <source>Data %1
Tokenizer %2
Vocabulary %3</source>
        <translation>Datos %1
Tokenizador %2
Vocabulario %3</translation>
    </message>
</context>
<context>
    <name>furrow::CoverageMap</name>
    <message>
        <source>No block is prepared yet.</source>
        <translation>Aún no hay ningún bloque preparado.</translation>
    </message>
    <message>
        <source>Coverage map</source>
        <translation>Mapa de cobertura</translation>
    </message>
    <message>
        <source>%1 of %2 chunks committed, %3 lost, %4 poisoned</source>
        <translation>%1 de %2 fragmentos confirmados, %3 perdidos, %4 envenenados</translation>
    </message>
    <message>
        <source>B%1 C%2</source>
        <translation>B%1 C%2</translation>
    </message>
    <message>
        <source>mean loss %1</source>
        <translation>pérdida media %1</translation>
    </message>
    <message>
        <source>worker %1</source>
        <translation>trabajador %1</translation>
    </message>
    <message>
        <source>block</source>
        <translation>bloque</translation>
    </message>
    <message numerus="yes">
        <source>%n blocks</source>
        <translation>
            <numerusform>%n bloque</numerusform>
            <numerusform>%n bloques</numerusform>
        </translation>
    </message>
    <message>
        <source>trained by the parent run</source>
        <translation>entrenado por la ejecución padre</translation>
    </message>
    <message numerus="yes">
        <source>%n training(s), parts and lost ones included</source>
        <translation>
            <numerusform>%n entrenamiento, con partes y perdidos</numerusform>
            <numerusform>%n entrenamientos, con partes y perdidos</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of %2 samples in checkpoints</source>
        <translation>%1 de %2 muestras en puntos de control</translation>
    </message>
    <message>
        <source>left out, none of its steps was finite</source>
        <translation>omitido, ninguno de sus pasos era finito</translation>
    </message>
    <message>
        <source>samples left out, their steps were not finite: %1</source>
        <translation>muestras omitidas, sus pasos no eran finitos: %1</translation>
    </message>
</context>
<context>
    <name>furrow::CoveragePage</name>
    <message>
        <source>Layer</source>
        <translation>Capa</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Pérdida</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Estado</translation>
    </message>
    <message>
        <source>Worker</source>
        <translation>Trabajador</translation>
    </message>
    <message>
        <source>Attempt</source>
        <translation>Intento</translation>
    </message>
    <message>
        <source>Age</source>
        <translation>Antigüedad</translation>
    </message>
    <message>
        <source>Layer: %1</source>
        <translation>Capa: %1</translation>
    </message>
    <message>
        <source>Relative to</source>
        <translation>Respecto a</translation>
    </message>
    <message>
        <source>Relative to: nothing</source>
        <translation>Respecto a: nada</translation>
    </message>
    <message>
        <source>Epoch</source>
        <translation>Época</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>Ajustar</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>Tabla</translation>
    </message>
    <message>
        <source>Coverage map</source>
        <translation>Mapa de cobertura</translation>
    </message>
    <message>
        <source>No block is prepared yet.</source>
        <translation>Aún no hay ningún bloque preparado.</translation>
    </message>
    <message>
        <source>Chunks of the epoch</source>
        <translation>Fragmentos de la época</translation>
    </message>
    <message>
        <source>Share of the worst chunks</source>
        <translation>Parte de los peores fragmentos</translation>
    </message>
    <message>
        <source>Select the chunks with the largest values of this layer</source>
        <translation>Elegir los fragmentos con los mayores valores de esta capa</translation>
    </message>
    <message>
        <source>There is no epoch before this one.</source>
        <translation>No hay una época anterior a esta.</translation>
    </message>
    <message>
        <source>Change of loss</source>
        <translation>Cambio de pérdida</translation>
    </message>
    <message>
        <source>Relative to: trend</source>
        <translation>Respecto a: tendencia</translation>
    </message>
    <message>
        <source>Block</source>
        <translation>Bloque</translation>
    </message>
    <message>
        <source>Parent run</source>
        <translation>Ejecución padre</translation>
    </message>
    <message>
        <source>Fit: show the whole field</source>
        <translation>Ajustar: mostrar todo el campo</translation>
    </message>
    <message>
        <source>Order of the rows</source>
        <translation>Orden de las filas</translation>
    </message>
    <message>
        <source>block number</source>
        <translation>número de bloque</translation>
    </message>
    <message>
        <source>first trained</source>
        <translation>primero entrenado</translation>
    </message>
    <message>
        <source>highest loss</source>
        <translation>mayor pérdida</translation>
    </message>
    <message>
        <source>Rows: %1</source>
        <translation>Filas: %1</translation>
    </message>
    <message>
        <source>Worst</source>
        <translation>Peores</translation>
    </message>
    <message>
        <source>Select</source>
        <translation>Elegir</translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s)</source>
        <translation>
            <numerusform>%n fragmento</numerusform>
            <numerusform>%n fragmentos</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, blocks %2 to %3, columns %4 to %5</source>
        <translation>%1, bloques %2 a %3, columnas %4 a %5</translation>
    </message>
    <message>
        <source>%1, open</source>
        <translation>%1, abierta</translation>
    </message>
    <message>
        <source>Trainings</source>
        <translation>Entrenamientos</translation>
    </message>
    <message>
        <source>%</source>
        <translation>%</translation>
    </message>
</context>
<context>
    <name>furrow::DataPage</name>
    <message>
        <source>Blocks</source>
        <translation>Bloques</translation>
    </message>
    <message>
        <source>Chunks of the block</source>
        <translation>Fragmentos del bloque</translation>
    </message>
    <message>
        <source>Blocks and chunks of %1</source>
        <translation>Bloques y fragmentos de %1</translation>
    </message>
    <message>
        <source>; open too: %1 (the page Coverage shows another one)</source>
        <translation>; también abiertas: %1 (en la página Cobertura se elige otra)</translation>
    </message>
</context>
<context>
    <name>furrow::DataPreview</name>
    <message>
        <source>Looking at the data…</source>
        <translation>Examinando los datos…</translation>
    </message>
    <message>
        <source>Probed in %1</source>
        <translation>Examinado en %1</translation>
    </message>
    <message numerus="yes">
        <source>%n block(s)</source>
        <translation>
            <numerusform>%n bloque</numerusform>
            <numerusform>%n bloques</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s)</source>
        <translation>
            <numerusform>%n fragmento</numerusform>
            <numerusform>%n fragmentos</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 samples</source>
        <translation>%1 muestras</translation>
    </message>
    <message>
        <source>about %1 samples</source>
        <translation>unas %1 muestras</translation>
    </message>
    <message>
        <source>about %1 tokens</source>
        <translation>unos %1 tokens</translation>
    </message>
    <message>
        <source>text in %1</source>
        <translation>texto en %1</translation>
    </message>
    <message>
        <source>%1 samples per block: %2</source>
        <translation>%1 muestras por bloque: %2</translation>
    </message>
    <message numerus="yes">
        <source>first %n sample(s)</source>
        <translation>
            <numerusform>primera muestra</numerusform>
            <numerusform>primeras %n muestras</numerusform>
        </translation>
    </message>
    <message>
        <source>Text column</source>
        <translation>Columna de texto</translation>
    </message>
    <message>
        <source>Several columns hold text: choose the one that is trained</source>
        <translation>Varias columnas contienen texto: elija la que se entrena</translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>y %n más</numerusform>
            <numerusform>y %n más</numerusform>
        </translation>
    </message>
    <message>
        <source>at least %1 chunks</source>
        <translation>al menos %1 fragmentos</translation>
    </message>
    <message>
        <source>%1 % of the tokens are learnt, « » around them</source>
        <translation>Se aprende el %1 % de los tokens, entre « »</translation>
    </message>
    <message>
        <source>about %1 tokens to train, %2 held out</source>
        <translation>unos %1 tokens para entrenar, %2 reservados</translation>
    </message>
    <message>
        <source>at least 1 chunk</source>
        <translation>al menos 1 fragmento</translation>
    </message>
</context>
<context>
    <name>furrow::DevicePicker</name>
    <message>
        <source>%1 of %2 free</source>
        <translation>%1 de %2 libres</translation>
    </message>
    <message>
        <source>idle</source>
        <translation>inactiva</translation>
    </message>
    <message>
        <source>%1 % busy</source>
        <translation>%1 % ocupada</translation>
    </message>
    <message>
        <source>%1 in all</source>
        <translation>%1 en total</translation>
    </message>
    <message numerus="yes">
        <source>CPU, %n core(s)</source>
        <translation>
            <numerusform>CPU, %n núcleo</numerusform>
            <numerusform>CPU, %n núcleos</numerusform>
        </translation>
    </message>
    <message>
        <source>no GPU was found</source>
        <translation>no se encontró ninguna GPU</translation>
    </message>
</context>
<context>
    <name>furrow::EpochHead</name>
    <message>
        <source>Epoch ends about %1</source>
        <translation>Fin previsto de la época: %1</translation>
    </message>
    <message>
        <source>Epoch ends about %1, likely between %2 and %3</source>
        <translation>Fin previsto de la época: %1, probablemente entre %2 y %3</translation>
    </message>
    <message>
        <source>Why?</source>
        <translation>¿Por qué?</translation>
    </message>
    <message>
        <source>Reading the run…</source>
        <translation>Leyendo la ejecución…</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>Ended because %1. %2</source>
        <translation>Terminó porque %1. %2</translation>
    </message>
    <message>
        <source>Both epochs end about %1</source>
        <translation>Fin previsto de ambas épocas: %1</translation>
    </message>
    <message>
        <source>Both epochs end about %1, likely between %2 and %3</source>
        <translation>Fin previsto de ambas épocas: %1, probablemente entre %2 y %3</translation>
    </message>
    <message>
        <source>Nothing is known of this run</source>
        <translation>No se sabe nada de esta ejecución</translation>
    </message>
    <message>
        <source>All epochs end about %1</source>
        <translation>Fin previsto de las épocas: %1</translation>
    </message>
    <message>
        <source>All epochs end about %1, likely between %2 and %3</source>
        <translation>Fin previsto de las épocas: %1, probablemente entre %2 y %3</translation>
    </message>
</context>
<context>
    <name>furrow::EpochMeters</name>
    <message>
        <source>Blocks visited</source>
        <translation>Bloques visitados</translation>
    </message>
    <message>
        <source>Chunks committed</source>
        <translation>Fragmentos confirmados</translation>
    </message>
    <message>
        <source>Samples committed</source>
        <translation>Muestras confirmadas</translation>
    </message>
    <message>
        <source>Optimiser steps</source>
        <translation>Pasos del optimizador</translation>
    </message>
    <message>
        <source>committed %1</source>
        <translation>confirmados %1</translation>
    </message>
    <message>
        <source>trained, not in a checkpoint yet %1</source>
        <translation>entrenados, aún sin punto de control %1</translation>
    </message>
    <message>
        <source>leased %1</source>
        <translation>reservados %1</translation>
    </message>
    <message>
        <source>free %1</source>
        <translation>libres %1</translation>
    </message>
    <message>
        <source>not prepared %1</source>
        <translation>sin preparar %1</translation>
    </message>
    <message>
        <source>excluded %1</source>
        <translation>excluidos %1</translation>
    </message>
    <message>
        <source>poisoned, accepted %1</source>
        <translation>envenenados, aceptados %1</translation>
    </message>
    <message>
        <source>poisoned %1, accept or retry before the epoch can end</source>
        <translation>envenenados %1, aceptar o reintentar antes de que la época pueda terminar</translation>
    </message>
    <message>
        <source>rows unreadable %1</source>
        <translation>filas ilegibles %1</translation>
    </message>
    <message>
        <source>rows filtered %1</source>
        <translation>filas filtradas %1</translation>
    </message>
    <message>
        <source>work lost %1</source>
        <translation>trabajo perdido %1</translation>
    </message>
    <message>
        <source>claimed by workers that are gone %1</source>
        <translation>reservados por procesos que ya no existen %1</translation>
    </message>
    <message>
        <source>samples left out as repeats %1</source>
        <translation>muestras omitidas por repetidas %1</translation>
    </message>
    <message>
        <source>partly trained %1</source>
        <translation>entrenados en parte %1</translation>
    </message>
    <message>
        <source>%1 in %2 epochs</source>
        <translation>%1 en %2 épocas</translation>
    </message>
    <message>
        <source>rows filtered or left out with their file %1</source>
        <translation>filas filtradas o dejadas fuera con su archivo: %1</translation>
    </message>
    <message>
        <source>poisoned %1</source>
        <translation>envenenados %1</translation>
    </message>
    <message>
        <source>samples left out, their steps were not finite %1</source>
        <translation>muestras omitidas, sus pasos no eran finitos: %1</translation>
    </message>
    <message>
        <source>of these left out, their steps were not finite %1</source>
        <translation>de ellos omitidos, sus pasos no eran finitos %1</translation>
    </message>
    <message>
        <source>of these %1</source>
        <translation>de ellos %1</translation>
    </message>
    <message>
        <source>trained by the parent run %1</source>
        <translation>entrenados por la ejecución padre %1</translation>
    </message>
    <message>
        <source>of those left out, trained in part before %1</source>
        <translation>de los omitidos, entrenados en parte antes %1</translation>
    </message>
    <message>
        <source>of these kept in part %1</source>
        <translation>de ellos conservados en parte %1</translation>
    </message>
</context>
<context>
    <name>furrow::EpochTable</name>
    <message>
        <source>Epoch</source>
        <translation>Época</translation>
    </message>
    <message>
        <source>Kept</source>
        <translation>Se conservan</translation>
    </message>
    <message>
        <source>To be redone</source>
        <translation>Por repetir</translation>
    </message>
    <message>
        <source>Work lost</source>
        <translation>Trabajo perdido</translation>
    </message>
    <message>
        <source>Free</source>
        <translation>Libres</translation>
    </message>
    <message>
        <source>Released</source>
        <translation>Liberados</translation>
    </message>
    <message>
        <source>Partly trained</source>
        <translation>Entrenados en parte</translation>
    </message>
    <message>
        <source>%1: kept %2, to be redone %3, work lost %4, released %5, partly trained %6, free %7</source>
        <translation>%1: conservados %2, por repetir %3, trabajo perdido %4, liberados %5, entrenados en parte %6, libres %7</translation>
    </message>
</context>
<context>
    <name>furrow::EstimatePanel</name>
    <message>
        <source>Estimate</source>
        <translation>Estimación</translation>
    </message>
    <message>
        <source>Chunks in an epoch</source>
        <translation>Fragmentos en una época</translation>
    </message>
    <message>
        <source>Time to one epoch</source>
        <translation>Tiempo de una época</translation>
    </message>
    <message>
        <source>Disk, free</source>
        <translation>Disco libre</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>Orden</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Copiar</translation>
    </message>
    <message>
        <source>Command that creates this run</source>
        <translation>Orden que crea esta ejecución</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>Lanzar</translation>
    </message>
    <message>
        <source>Save preset…</source>
        <translation>Guardar preajuste…</translation>
    </message>
    <message numerus="yes">
        <source>%n setting(s) must be corrected before launch</source>
        <translation>
            <numerusform>Hay que corregir %n ajuste antes de lanzar</numerusform>
            <numerusform>Hay que corregir %n ajustes antes de lanzar</numerusform>
        </translation>
    </message>
    <message>
        <source>Choose the data first</source>
        <translation>Elija primero los datos</translation>
    </message>
    <message>
        <source>not known yet</source>
        <translation>aún no se sabe</translation>
    </message>
    <message numerus="yes">
        <source>in %n block(s)</source>
        <translation>
            <numerusform>en %n bloque</numerusform>
            <numerusform>en %n bloques</numerusform>
        </translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>unos %1</translation>
    </message>
    <message>
        <source>The number of tokens is not known before the data is prepared.</source>
        <translation>El número de tokens no se conoce antes de preparar los datos.</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>no se sabe</translation>
    </message>
    <message>
        <source>Downloads and prepared blocks take at most %1.</source>
        <translation>Las descargas y los bloques preparados ocupan como mucho %1.</translation>
    </message>
    <message>
        <source>As in the preset %1</source>
        <translation>Como en el preajuste %1</translation>
    </message>
    <message>
        <source>Changes to the preset %1</source>
        <translation>Cambios respecto al preajuste %1</translation>
    </message>
    <message>
        <source>not set</source>
        <translation>sin definir</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>Cola</translation>
    </message>
    <message>
        <source>Create the run and start it when its devices are free</source>
        <translation>Crear la ejecución y empezarla cuando sus dispositivos estén libres</translation>
    </message>
    <message>
        <source>No run that trains in this way has been measured here.</source>
        <translation>Aquí no se ha medido ninguna ejecución que entrene de este modo.</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>Restablecer todo</translation>
    </message>
    <message>
        <source>Set every setting back to the value of the preset; the data and the name stay</source>
        <translation>Todos los ajustes vuelven al valor del preajuste; los datos y el nombre se conservan</translation>
    </message>
    <message>
        <source>%1: set back to the value of the preset</source>
        <translation>%1: volver al valor del preajuste</translation>
    </message>
    <message>
        <source>Install libtorch…</source>
        <translation>Instalar libtorch…</translation>
    </message>
    <message>
        <source>Known once the data has been looked at.</source>
        <translation>Se sabrá cuando se hayan examinado los datos.</translation>
    </message>
    <message>
        <source>Known once the settings of the data are right.</source>
        <translation>Se sabrá cuando los ajustes de los datos sean correctos.</translation>
    </message>
    <message>
        <source>Counted when the run is made: the data has several sources, or its samples are only estimated.</source>
        <translation>Se cuenta al crear la ejecución: los datos tienen varias fuentes o sus muestras solo están estimadas.</translation>
    </message>
    <message>
        <source>Show this setting</source>
        <translation>Mostrar este ajuste</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>Known once what must be corrected is right.</source>
        <translation>Se sabrá cuando se corrija lo indicado.</translation>
    </message>
    <message>
        <source>%1, measured on %2, its evaluations included</source>
        <translation>%1, medido en %2, con sus evaluaciones</translation>
    </message>
    <message>
        <source>%1, estimated from %2 by operations per token and cores or GPUs, its evaluations included</source>
        <translation>%1, estimado a partir de %2 por operaciones por token y núcleos o GPU, con sus evaluaciones</translation>
    </message>
</context>
<context>
    <name>furrow::EventsDock</name>
    <message>
        <source>Events and alerts</source>
        <translation>Sucesos y avisos</translation>
    </message>
    <message>
        <source>Include every change of a chunk</source>
        <translation>También cada paso de un fragmento</translation>
    </message>
</context>
<context>
    <name>furrow::ExportDialog</name>
    <message>
        <source>Export run</source>
        <translation>Exportar ejecución</translation>
    </message>
    <message>
        <source>Report of the run: state, figures, curves, settings and audit on one HTML page</source>
        <translation>Informe de la ejecución: estado, cifras, curvas, ajustes y auditoría en una página HTML</translation>
    </message>
    <message>
        <source>Measurements, as CSV tables</source>
        <translation>Mediciones en tablas CSV</translation>
    </message>
    <message>
        <source>Measurements, as JSON lines</source>
        <translation>Mediciones en líneas JSON</translation>
    </message>
    <message>
        <source>Measurements, for TensorBoard</source>
        <translation>Mediciones para TensorBoard</translation>
    </message>
    <message>
        <source>The model, for Hugging Face</source>
        <translation>El modelo, para Hugging Face</translation>
    </message>
    <message>
        <source>Bundle for developers: logs, settings and audit, without data, weights, secrets or folder names</source>
        <translation>Paquete para desarrolladores: logs, ajustes y auditoría, sin datos, pesos, secretos ni nombres de carpetas</translation>
    </message>
    <message>
        <source>Where to write it</source>
        <translation>Dónde escribirlo</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Elegir…</translation>
    </message>
    <message>
        <source>Saved as %1.</source>
        <translation>Guardado como %1.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportar</translation>
    </message>
    <message>
        <source>A folder is created there.</source>
        <translation>Allí se crea una carpeta.</translation>
    </message>
    <message>
        <source>Working…</source>
        <translation>Trabajando…</translation>
    </message>
    <message>
        <source>The run has no checkpoint yet: the model has its start weights.</source>
        <translation>La ejecución no tiene aún ningún punto de control: el modelo tiene sus pesos iniciales.</translation>
    </message>
    <message>
        <source>The weights: %1.</source>
        <translation>Los pesos: %1.</translation>
    </message>
    <message>
        <source>%1 &quot;Merge replicas&quot; in the Run menu makes one model of them all.</source>
        <translation>%1 «Fusionar réplicas» en el menú Ejecución hace un solo modelo de todas.</translation>
    </message>
    <message>
        <source>The model, for llama.cpp (GGUF, 16 bits; furrowctl export has more types)</source>
        <translation>El modelo, para llama.cpp (GGUF, 16 bits; furrowctl export ofrece más tipos)</translation>
    </message>
    <message>
        <source>llama.cpp has no form for the tokenizer of this run. The model can be exported for Hugging Face.</source>
        <translation>llama.cpp no tiene ninguna forma para el tokenizador de esta ejecución. El modelo se puede exportar para Hugging Face.</translation>
    </message>
    <message>
        <source>%1 could not be written: %2</source>
        <translation>No se pudo escribir %1: %2</translation>
    </message>
    <message>
        <source>%1 could not be written: the folder %2 is not there.</source>
        <translation>No se pudo escribir %1: la carpeta %2 no existe.</translation>
    </message>
</context>
<context>
    <name>furrow::FormField</name>
    <message>
        <source>%1 is empty: a file, a folder or an address (hf://, https://, s3://, gs://) is needed.</source>
        <translation>%1 está vacío: se necesita un archivo, una carpeta o una dirección (hf://, https://, s3://, gs://).</translation>
    </message>
    <message>
        <source>%1
It comes from the model that the run starts from.</source>
        <translation>%1
Es el del modelo del que parte la ejecución.</translation>
    </message>
    <message>
        <source>Separate several with commas. Put a name with a comma in it in double quotes: &quot;Goethe, Faust.txt&quot;, b.txt</source>
        <translation>Varios se separan con comas. Un nombre que contiene una coma va entre comillas dobles: &quot;Goethe, Faust.txt&quot;, b.txt</translation>
    </message>
</context>
<context>
    <name>furrow::FormGroup</name>
    <message numerus="yes">
        <source>%n setting(s)</source>
        <translation>
            <numerusform>%n ajuste</numerusform>
            <numerusform>%n ajustes</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>furrow::GpuDock</name>
    <message>
        <source>Loss</source>
        <translation>Pérdida</translation>
    </message>
    <message>
        <source>Utilisation</source>
        <translation>Uso</translation>
    </message>
    <message>
        <source>%</source>
        <translation>%</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Memoria</translation>
    </message>
    <message>
        <source>GiB</source>
        <translation>GiB</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>Potencia</translation>
    </message>
    <message>
        <source>W</source>
        <translation>W</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatura</translation>
    </message>
    <message>
        <source>°C</source>
        <translation>°C</translation>
    </message>
    <message>
        <source>This run trains on the CPU; no GPU is measured.</source>
        <translation>Esta ejecución entrena en la CPU; no se mide ninguna GPU.</translation>
    </message>
    <message>
        <source>No measurement of a GPU was recorded. It needs the NVIDIA driver (NVML) on the machine that trains.</source>
        <translation>No se registró ninguna medición de GPU. Hace falta el controlador NVIDIA (NVML) en el equipo que entrena.</translation>
    </message>
</context>
<context>
    <name>furrow::HelpDialog</name>
    <message>
        <source>Help</source>
        <translation>Ayuda</translation>
    </message>
    <message>
        <source>Search the help</source>
        <translation>Buscar en la ayuda</translation>
    </message>
    <message>
        <source>Topics</source>
        <translation>Temas</translation>
    </message>
    <message>
        <source>Nothing found.</source>
        <translation>No se encontró nada.</translation>
    </message>
</context>
<context>
    <name>furrow::HubModelDialog</name>
    <message>
        <source>No model has been downloaded to this computer yet.</source>
        <translation>Todavía no se ha descargado ningún modelo a este equipo.</translation>
    </message>
    <message>
        <source>Start from a model on the hub</source>
        <translation>Empezar con un modelo del hub</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Progreso</translation>
    </message>
    <message>
        <source>Name a model on the Hugging Face hub: hf://owner/name, or hf://owner/name/FILE.gguf. It is downloaded once; shape, context, tokenizer and chat template come with it. A gated model needs HF_TOKEN in the environment.</source>
        <translation>Indique un modelo del hub de Hugging Face: hf://propietario/nombre o hf://propietario/nombre/ARCHIVO.gguf. Se descarga una sola vez; con él vienen la forma, el contexto, el tokenizador y la plantilla de chat. Un modelo de acceso restringido necesita HF_TOKEN en el entorno.</translation>
    </message>
    <message>
        <source>Model on the hub</source>
        <translation>Modelo del hub</translation>
    </message>
    <message>
        <source>Download and use</source>
        <translation>Descargar y usar</translation>
    </message>
    <message>
        <source>On this computer</source>
        <translation>En este equipo</translation>
    </message>
    <message>
        <source>Models on this computer</source>
        <translation>Modelos en este equipo</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
    <message>
        <source>Use the selected one</source>
        <translation>Usar el seleccionado</translation>
    </message>
    <message>
        <source>Asking the hub…</source>
        <translation>Consultando el hub…</translation>
    </message>
</context>
<context>
    <name>furrow::InspectorDock</name>
    <message>
        <source>Trainings of this chunk</source>
        <translation>Entrenamientos de este fragmento</translation>
    </message>
    <message>
        <source>Selected chunks</source>
        <translation>Fragmentos elegidos</translation>
    </message>
    <message>
        <source>Show in map</source>
        <translation>Ver en mapa</translation>
    </message>
    <message>
        <source>Select a run, worker or chunk.</source>
        <translation>Elija una ejecución, un trabajador o un fragmento.</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Estado</translation>
    </message>
    <message>
        <source>not in the epoch shown</source>
        <translation>no es de la época mostrada</translation>
    </message>
    <message>
        <source>Worker</source>
        <translation>Trabajador</translation>
    </message>
    <message>
        <source>Attempt</source>
        <translation>Intento</translation>
    </message>
    <message>
        <source>%1, claim %2</source>
        <translation>%1, reserva %2</translation>
    </message>
    <message>
        <source>Trained</source>
        <translation>Entrenado</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 a %2</translation>
    </message>
    <message>
        <source>Samples</source>
        <translation>Muestras</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>Mean loss</source>
        <translation>Pérdida media</translation>
    </message>
    <message>
        <source>Gradient norm, peak</source>
        <translation>Norma del gradiente, máxima</translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation>Punto de control</translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s) selected</source>
        <translation>
            <numerusform>%n fragmento elegido</numerusform>
            <numerusform>%n fragmentos elegidos</numerusform>
        </translation>
    </message>
    <message>
        <source>Worker %1</source>
        <translation>Trabajador %1</translation>
    </message>
    <message>
        <source>Process</source>
        <translation>Proceso</translation>
    </message>
    <message>
        <source>not alive</source>
        <translation>no está vivo</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Dispositivo</translation>
    </message>
    <message>
        <source>Replica</source>
        <translation>Réplica</translation>
    </message>
    <message>
        <source>Phase</source>
        <translation>Fase</translation>
    </message>
    <message>
        <source>Its end</source>
        <translation>Su final</translation>
    </message>
    <message>
        <source>Restarts</source>
        <translation>Reinicios</translation>
    </message>
    <message>
        <source>Chunk</source>
        <translation>Fragmento</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Pasos</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Pérdida</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Velocidad</translation>
    </message>
    <message>
        <source>Last progress</source>
        <translation>Último avance</translation>
    </message>
    <message>
        <source>Ended because</source>
        <translation>Terminó porque</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Ejecución</translation>
    </message>
    <message>
        <source>Made</source>
        <translation>Creada</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Preajuste</translation>
    </message>
    <message>
        <source>Active time</source>
        <translation>Tiempo activo</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>Puntos de control</translation>
    </message>
    <message>
        <source>Newest checkpoint</source>
        <translation>Último punto de control</translation>
    </message>
    <message>
        <source>Eval loss</source>
        <translation>Pérdida de evaluación</translation>
    </message>
    <message>
        <source>Vocabulary</source>
        <translation>Vocabulario</translation>
    </message>
    <message>
        <source>Samples per block</source>
        <translation>Muestras por bloque</translation>
    </message>
    <message>
        <source>Show in chart</source>
        <translation>Ver en gráfico</translation>
    </message>
    <message>
        <source>Show in log</source>
        <translation>Ver en log</translation>
    </message>
    <message>
        <source>Loss inside the chunk</source>
        <translation>Pérdida dentro del fragmento</translation>
    </message>
    <message numerus="yes">
        <source>%n step(s)</source>
        <translation>
            <numerusform>%n paso</numerusform>
            <numerusform>%n pasos</numerusform>
        </translation>
    </message>
    <message>
        <source>spike</source>
        <translation>pico</translation>
    </message>
    <message numerus="yes">
        <source>Quarantine %n chunk(s)…</source>
        <translation>
            <numerusform>Aislar %n fragmento…</numerusform>
            <numerusform>Aislar %n fragmentos…</numerusform>
        </translation>
    </message>
    <message>
        <source>Parent run</source>
        <translation>Ejecución padre</translation>
    </message>
    <message>
        <source>trained it; left out here</source>
        <translation>lo entrenó; aquí se omite</translation>
    </message>
    <message>
        <source>trained it; trained again here</source>
        <translation>lo entrenó; aquí se entrena otra vez</translation>
    </message>
    <message>
        <source>As it is now, not as it was at %1.</source>
        <translation>Muestra el estado actual, no el de entonces (%1).</translation>
    </message>
    <message>
        <source>Changed by attempt %1</source>
        <translation>Cambiado por el intento %1</translation>
    </message>
    <message>
        <source>Attempt %1</source>
        <translation>Intento %1</translation>
    </message>
    <message>
        <source>Started</source>
        <translation>Iniciado</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>Terminó</translation>
    </message>
    <message>
        <source>no end was recorded</source>
        <translation>no se registró el final</translation>
    </message>
    <message>
        <source>Supervisor</source>
        <translation>Supervisor</translation>
    </message>
    <message>
        <source>process %1</source>
        <translation>proceso %1</translation>
    </message>
    <message>
        <source>Detail</source>
        <translation>Detalle</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Ajustes</translation>
    </message>
    <message>
        <source>none changed</source>
        <translation>ninguno cambiado</translation>
    </message>
    <message>
        <source>Memory, peak</source>
        <translation>Memoria, como máximo</translation>
    </message>
    <message>
        <source>%1, %2 times the estimate</source>
        <translation>%1, %2 veces la estimación</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Reintentar</translation>
    </message>
    <message>
        <source>Accept as not trained…</source>
        <translation>Aceptar como no entrenado…</translation>
    </message>
    <message>
        <source>In weights</source>
        <translation>En los pesos</translation>
    </message>
    <message>
        <source>once, in %1 parts</source>
        <translation>una vez, en %1 partes</translation>
    </message>
    <message>
        <source>once</source>
        <translation>una vez</translation>
    </message>
    <message>
        <source>not yet</source>
        <translation>todavía no</translation>
    </message>
    <message>
        <source>An interrupted chunk is continued from where it was: each part is in the weights once.</source>
        <translation>Un fragmento interrumpido se sigue entrenando desde donde estaba: cada parte está una vez en los pesos.</translation>
    </message>
    <message>
        <source>Tokens learnt from</source>
        <translation>Tokens aprendidos</translation>
    </message>
    <message>
        <source>Tokens with nothing before them are read and not predicted, so there are fewer of these than the text has.</source>
        <translation>Los tokens sin nada delante se leen y no se predicen: hay menos de estos que en el texto.</translation>
    </message>
    <message>
        <source>Work lost</source>
        <translation>Trabajo perdido</translation>
    </message>
    <message numerus="yes">
        <source>%n training(s), with their weights</source>
        <translation>
            <numerusform>%n entrenamiento, con sus pesos</numerusform>
            <numerusform>%n entrenamientos, con sus pesos</numerusform>
        </translation>
    </message>
    <message>
        <source>Newest process</source>
        <translation>Proceso más reciente</translation>
    </message>
    <message>
        <source>attempt %1</source>
        <translation>intento %1</translation>
    </message>
    <message>
        <source>Earlier ones of this worker are on the Workers page.</source>
        <translation>Los anteriores de este trabajador están en la página Trabajadores.</translation>
    </message>
    <message>
        <source>As last read, at %1: the folder of the run cannot be read now.</source>
        <translation>Como se leyó por última vez (%1): ahora no se puede leer la carpeta de la ejecución.</translation>
    </message>
    <message>
        <source>not in a checkpoint yet</source>
        <translation>aún sin punto de control</translation>
    </message>
    <message>
        <source>%1 of %2 parts, the others in no checkpoint yet</source>
        <translation>%1 de %2 partes, las demás aún sin punto de control</translation>
    </message>
    <message>
        <source>%1 of %2 samples</source>
        <translation>%1 de %2 muestras</translation>
    </message>
    <message>
        <source>%1 of %2 windows; the rest is trained when it is claimed again.</source>
        <translation>%1 de %2 ventanas; el resto se entrena cuando se reserva de nuevo.</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>Datos</translation>
    </message>
    <message>
        <source>was %1</source>
        <translation>era %1</translation>
    </message>
    <message>
        <source>Right answers</source>
        <translation>Respuestas correctas</translation>
    </message>
    <message>
        <source>%1; not in the epoch shown</source>
        <translation>%1; no es de la época mostrada</translation>
    </message>
    <message>
        <source>%1, median of %2 %3</source>
        <translation>%1, mediana de la %2 %3</translation>
    </message>
    <message>
        <source>Quarantine leaves chunks out of later runs; this run keeps and trains them. Chunks that are not trained yet can be left out of this run too (menu Data).</source>
        <translation>La cuarentena excluye fragmentos de ejecuciones posteriores; esta los conserva y los entrena. Los fragmentos aún no entrenados también se pueden excluir de esta ejecución (menú Datos).</translation>
    </message>
    <message>
        <source>no: it is left out</source>
        <translation>no: está omitido</translation>
    </message>
    <message>
        <source>no: it is left out, none of its steps was finite</source>
        <translation>no: está omitido, ninguno de sus pasos era finito</translation>
    </message>
    <message>
        <source>Left out</source>
        <translation>Omitidas</translation>
    </message>
    <message>
        <source>%1 of %2 samples, their steps were not finite</source>
        <translation>%1 de %2 muestras, sus pasos no eran finitos</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>%1 of %2 windows; the rest is left out.</source>
        <translation>%1 de %2 ventanas; el resto se omite.</translation>
    </message>
    <message>
        <source>from the parent run</source>
        <translation>de la ejecución padre</translation>
    </message>
    <message>
        <source>Newest attempt</source>
        <translation>Intento más reciente</translation>
    </message>
    <message>
        <source>%1, without a part that was cut off</source>
        <translation>%1, sin una parte que se interrumpió</translation>
    </message>
    <message>
        <source>%1, in %2 parts</source>
        <translation>%1, en %2 partes</translation>
    </message>
    <message>
        <source>no: there is nothing to train in it</source>
        <translation>no: no hay nada que entrenar en él</translation>
    </message>
</context>
<context>
    <name>furrow::LaneLegend</name>
    <message>
        <source>wait</source>
        <translation>espera</translation>
    </message>
    <message>
        <source>train</source>
        <translation>entrenamiento</translation>
    </message>
    <message>
        <source>commit</source>
        <translation>confirmación</translation>
    </message>
    <message>
        <source>work lost</source>
        <translation>trabajo perdido</translation>
    </message>
    <message>
        <source>no process</source>
        <translation>sin proceso</translation>
    </message>
</context>
<context>
    <name>furrow::LaneView</name>
    <message>
        <source>Worker lanes</source>
        <translation>Carriles de trabajadores</translation>
    </message>
    <message numerus="yes">
        <source>%n lanes</source>
        <translation>
            <numerusform>%n carril</numerusform>
            <numerusform>%n carriles</numerusform>
        </translation>
    </message>
    <message>
        <source>now</source>
        <translation>ahora</translation>
    </message>
    <message>
        <source>%1, worker %2, from %3</source>
        <translation>%1, trabajador %2, desde %3</translation>
    </message>
</context>
<context>
    <name>furrow::LanesDock</name>
    <message>
        <source>No chunk was claimed yet.</source>
        <translation>Aún no se ha reservado ningún fragmento.</translation>
    </message>
    <message>
        <source>Time range</source>
        <translation>Tramo de tiempo</translation>
    </message>
    <message numerus="yes">
        <source>Last %n minute(s)</source>
        <translation>
            <numerusform>Último minuto</numerusform>
            <numerusform>Últimos %n minutos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Last %n hour(s)</source>
        <translation>
            <numerusform>Última hora</numerusform>
            <numerusform>Últimas %n horas</numerusform>
        </translation>
    </message>
    <message>
        <source>Worker %1</source>
        <translation>Trabajador %1</translation>
    </message>
    <message>
        <source>was %1</source>
        <translation>era %1</translation>
    </message>
</context>
<context>
    <name>furrow::LibraryDock</name>
    <message>
        <source>No runs in this workspace yet.</source>
        <translation>Aún no hay ejecuciones en este espacio de trabajo.</translation>
    </message>
    <message>
        <source>No run matches.</source>
        <translation>Ninguna ejecución coincide.</translation>
    </message>
    <message>
        <source>Filter runs</source>
        <translation>Filtrar ejecuciones</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Ejecuciones</translation>
    </message>
    <message>
        <source>New run</source>
        <translation>Nueva ejecución</translation>
    </message>
    <message>
        <source>Clear filter</source>
        <translation>Quitar filtro</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n ejecución</numerusform>
            <numerusform>%n ejecuciones</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n run(s)</source>
        <translation>
            <numerusform>%1 de %n ejecución</numerusform>
            <numerusform>%1 de %n ejecuciones</numerusform>
        </translation>
    </message>
    <message>
        <source>Include archived</source>
        <translation>También archivadas</translation>
    </message>
    <message>
        <source>Start demonstration run</source>
        <translation>Iniciar ejecución de demostración</translation>
    </message>
    <message>
        <source>Words of name, note, group, preset or state; #word finds a tag</source>
        <translation>Palabras del nombre, nota, grupo, preajuste o estado; #palabra busca una etiqueta</translation>
    </message>
    <message>
        <source>Include archived (%1)</source>
        <translation>También archivadas (%1)</translation>
    </message>
    <message>
        <source>Add tag…</source>
        <translation>Añadir etiqueta…</translation>
    </message>
</context>
<context>
    <name>furrow::LogPage</name>
    <message>
        <source>Log</source>
        <translation>Log</translation>
    </message>
    <message>
        <source>Filter the log</source>
        <translation>Filtrar el log</translation>
    </message>
    <message>
        <source>Minimum level</source>
        <translation>Nivel mínimo</translation>
    </message>
    <message>
        <source>All levels</source>
        <translation>Todos los niveles</translation>
    </message>
    <message>
        <source>Info and above</source>
        <translation>Info o superior</translation>
    </message>
    <message>
        <source>Warnings and errors</source>
        <translation>Avisos y errores</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>Errores</translation>
    </message>
    <message>
        <source>Process</source>
        <translation>Proceso</translation>
    </message>
    <message>
        <source>Follow</source>
        <translation>Seguir</translation>
    </message>
    <message>
        <source>All processes</source>
        <translation>Todos los procesos</translation>
    </message>
    <message>
        <source>The selected line as it was written</source>
        <translation>La línea elegida, tal como se escribió</translation>
    </message>
    <message>
        <source>Select a line.</source>
        <translation>Elija una línea.</translation>
    </message>
    <message>
        <source>Line as written</source>
        <translation>Línea tal como se escribió</translation>
    </message>
    <message>
        <source>Show the selected line below the table, in full, as its process wrote it</source>
        <translation>La línea elegida, debajo de la tabla, entera, tal como la escribió su proceso</translation>
    </message>
</context>
<context>
    <name>furrow::MainWindow</name>
    <message>
        <source>Perspective</source>
        <translation>Perspectiva</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>Lanzar</translation>
    </message>
    <message>
        <source>Watch</source>
        <translation>Observar</translation>
    </message>
    <message>
        <source>Inspect data</source>
        <translation>Examinar datos</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>Tema</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Idioma</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Ejecución</translation>
    </message>
    <message>
        <source>Library</source>
        <translation>Biblioteca</translation>
    </message>
    <message>
        <source>Inspector</source>
        <translation>Inspector</translation>
    </message>
    <message>
        <source>Worker lanes</source>
        <translation>Carriles de trabajadores</translation>
    </message>
    <message>
        <source>Events and alerts</source>
        <translation>Sucesos y avisos</translation>
    </message>
    <message>
        <source>Events and alerts %1</source>
        <translation>Sucesos y avisos %1</translation>
    </message>
    <message>
        <source>%1 events/s   Lag %2 ms</source>
        <translation>%1 sucesos/s   Retraso %2 ms</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>Leyendo…</translation>
    </message>
    <message>
        <source>%1 – Furrow</source>
        <translation>%1 – Furrow</translation>
    </message>
    <message>
        <source>Writer: supervisor, alive</source>
        <translation>Escribe: supervisor, vivo</translation>
    </message>
    <message>
        <source>Writer: none</source>
        <translation>Escribe: nadie</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Continuar</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pausar</translation>
    </message>
    <message>
        <source>Start…</source>
        <translation>Iniciar…</translation>
    </message>
    <message>
        <source>Resume…</source>
        <translation>Reanudar…</translation>
    </message>
    <message>
        <source>The path of the run is on the clipboard.</source>
        <translation>La ruta de la ejecución está en el portapapeles.</translation>
    </message>
    <message>
        <source>Pausing at the end of the chunks in training…</source>
        <translation>Se pausará al final de los fragmentos en curso…</translation>
    </message>
    <message>
        <source>Stopping after a checkpoint…</source>
        <translation>Deteniendo tras un punto de control…</translation>
    </message>
    <message>
        <source>Killing…</source>
        <translation>Matando…</translation>
    </message>
    <message>
        <source>Saving a checkpoint…</source>
        <translation>Guardando un punto de control…</translation>
    </message>
    <message>
        <source>Looking at what a resume would do…</source>
        <translation>Viendo qué haría una reanudación…</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>Iniciando…</translation>
    </message>
    <message>
        <source>Creating the run…</source>
        <translation>Creando la ejecución…</translation>
    </message>
    <message>
        <source>Kill %1</source>
        <translation>Matar %1</translation>
    </message>
    <message>
        <source>End all processes of this run now?</source>
        <translation>¿Terminar ahora todos los procesos de esta ejecución?</translation>
    </message>
    <message>
        <source>Kill now</source>
        <translation>Matar ahora</translation>
    </message>
    <message>
        <source>Stop after a checkpoint</source>
        <translation>Detener tras un punto de control</translation>
    </message>
    <message>
        <source>Keep training</source>
        <translation>Seguir entrenando</translation>
    </message>
    <message>
        <source>Why this state?</source>
        <translation>¿Por qué este estado?</translation>
    </message>
    <message>
        <source>%1 is %2</source>
        <translation>%1 está: %2</translation>
    </message>
    <message>
        <source>Nothing has been recorded yet.</source>
        <translation>Aún no se ha registrado nada.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
    <message>
        <source>Open run folder</source>
        <translation>Abrir carpeta de ejecución</translation>
    </message>
    <message>
        <source>Open workspace</source>
        <translation>Abrir espacio de trabajo</translation>
    </message>
    <message>
        <source>Save picture of the window</source>
        <translation>Guardar imagen de la ventana</translation>
    </message>
    <message>
        <source>Saved as %1.</source>
        <translation>Guardado como %1.</translation>
    </message>
    <message>
        <source>%1 could not be written.</source>
        <translation>No se pudo escribir %1.</translation>
    </message>
    <message>
        <source>Attempt %1 of %2</source>
        <translation>Intento %1 de %2</translation>
    </message>
    <message>
        <source>About Furrow</source>
        <translation>Acerca de Furrow</translation>
    </message>
    <message>
        <source>Furrow %1</source>
        <translation>Furrow %1</translation>
    </message>
    <message>
        <source>Trains every chunk of a data set exactly once per epoch, and can prove it.
Free software under the GNU General Public License, version 3 or later.</source>
        <translation>Entrena cada fragmento de un conjunto de datos exactamente una vez por época, y puede demostrarlo.
Software libre bajo la Licencia Pública General de GNU, versión 3 o posterior.</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Comparar</translation>
    </message>
    <message>
        <source>Save perspective</source>
        <translation>Guardar perspectiva</translation>
    </message>
    <message>
        <source>Save page as picture</source>
        <translation>Guardar página como imagen</translation>
    </message>
    <message>
        <source>GPU history</source>
        <translation>Historial de GPU</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Log</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>Cola</translation>
    </message>
    <message>
        <source>Queue %1</source>
        <translation>Cola %1</translation>
    </message>
    <message>
        <source>Move to trash</source>
        <translation>Mover a la papelera</translation>
    </message>
    <message>
        <source>Move %1 to the trash of this workspace?</source>
        <translation>¿Mover %1 a la papelera de este espacio de trabajo?</translation>
    </message>
    <message>
        <source>The folder with its checkpoints moves to %1. Nothing is deleted; it can be restored.</source>
        <translation>La carpeta con sus puntos de control se mueve a %1. No se borra nada; se puede restaurar.</translation>
    </message>
    <message>
        <source>Keep the run</source>
        <translation>Conservar la ejecución</translation>
    </message>
    <message>
        <source>The trash of this workspace is empty.</source>
        <translation>La papelera de este espacio de trabajo está vacía.</translation>
    </message>
    <message>
        <source>Restore from trash</source>
        <translation>Restaurar de la papelera</translation>
    </message>
    <message>
        <source>from the run %1</source>
        <translation>de la ejecución %1</translation>
    </message>
    <message>
        <source>Docks</source>
        <translation>Paneles</translation>
    </message>
    <message>
        <source>Pictures</source>
        <translation>Imágenes</translation>
    </message>
    <message>
        <source>Save loss chart as picture</source>
        <translation>Guardar el gráfico de pérdida como imagen</translation>
    </message>
    <message>
        <source>Save loss chart as table</source>
        <translation>Guardar el gráfico de pérdida como tabla</translation>
    </message>
    <message>
        <source>Tables</source>
        <translation>Tablas</translation>
    </message>
    <message>
        <source>Name of the perspective</source>
        <translation>Nombre de la perspectiva</translation>
    </message>
    <message>
        <source>%1 moves to the trash. Run &gt; Restore from trash brings it back.</source>
        <translation>%1 pasa a la papelera. Ejecución &gt; Restaurar de la papelera la devuelve.</translation>
    </message>
    <message>
        <source>Run to restore</source>
        <translation>Ejecución que se restaura</translation>
    </message>
    <message>
        <source>Restore the run</source>
        <translation>Restaurar la ejecución</translation>
    </message>
    <message>
        <source>Charts: %1</source>
        <translation>Gráficos: %1</translation>
    </message>
    <message>
        <source>Evaluating at the next step…</source>
        <translation>Se evalúa en el próximo paso…</translation>
    </message>
    <message>
        <source>The run stops when the next block is complete.</source>
        <translation>La ejecución se detiene cuando se complete el próximo bloque.</translation>
    </message>
    <message>
        <source>The run stops at the end of this epoch.</source>
        <translation>La ejecución se detiene al final de esta época.</translation>
    </message>
    <message>
        <source>Mark as read</source>
        <translation>Leído</translation>
    </message>
    <message>
        <source>Dismisses the warning</source>
        <translation>Quita el aviso</translation>
    </message>
    <message>
        <source>Taking the tracker forward…</source>
        <translation>Poniendo el registro al día…</translation>
    </message>
    <message>
        <source>Resume %1</source>
        <translation>Reanudar %1</translation>
    </message>
    <message>
        <source>The tracker is older than the weights</source>
        <translation>El registro es más antiguo que los pesos</translation>
    </message>
    <message>
        <source>%1 Take it forward from the manifests? The file as it is now is kept beside it.</source>
        <translation>%1 ¿Ponerlo al día con los manifiestos? El archivo tal como está ahora se conserva al lado.</translation>
    </message>
    <message>
        <source>Take the tracker forward</source>
        <translation>Poner el registro al día</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
    <message>
        <source>The poisoned chunks are tried again.</source>
        <translation>Los fragmentos envenenados se reintentan.</translation>
    </message>
    <message>
        <source>Accept that no poisoned chunk is trained?</source>
        <translation>¿Aceptar que ningún fragmento envenenado se entrene?</translation>
    </message>
    <message numerus="yes">
        <source>Accept that %n poisoned chunk(s) are not trained?</source>
        <translation>
            <numerusform>¿Aceptar que %n fragmento envenenado no se entrene?</numerusform>
            <numerusform>¿Aceptar que %n fragmentos envenenados no se entrenen?</numerusform>
        </translation>
    </message>
    <message>
        <source>Accept poisoned chunks</source>
        <translation>Aceptar fragmentos envenenados</translation>
    </message>
    <message>
        <source>The epoch can end without them; audit and reports go on naming them.</source>
        <translation>La época puede terminar sin ellos; la auditoría y los informes los siguen nombrando.</translation>
    </message>
    <message>
        <source>Accept</source>
        <translation>Aceptar</translation>
    </message>
    <message>
        <source>Leave them poisoned</source>
        <translation>Dejarlos envenenados</translation>
    </message>
    <message>
        <source>This run cannot be resumed as it is</source>
        <translation>Esta ejecución no se puede reanudar tal como está</translation>
    </message>
    <message>
        <source>no perspective of your own is shown</source>
        <translation>no se muestra ninguna perspectiva propia</translation>
    </message>
    <message>
        <source>no run is shown</source>
        <translation>no se muestra ninguna ejecución</translation>
    </message>
    <message>
        <source>another command is under way</source>
        <translation>hay otra orden en curso</translation>
    </message>
    <message>
        <source>the run is not being trained</source>
        <translation>nadie entrena la ejecución</translation>
    </message>
    <message>
        <source>the run is being trained</source>
        <translation>la ejecución se está entrenando</translation>
    </message>
    <message>
        <source>the run was not started yet</source>
        <translation>la ejecución aún no se inició</translation>
    </message>
    <message>
        <source>the run is finished already</source>
        <translation>la ejecución ya terminó</translation>
    </message>
    <message>
        <source>there are fewer than two replicas to merge</source>
        <translation>no hay dos réplicas que fusionar</translation>
    </message>
    <message>
        <source>no chunk is poisoned</source>
        <translation>ningún fragmento está envenenado</translation>
    </message>
    <message>
        <source>the run is in the workspace</source>
        <translation>la ejecución está en el espacio de trabajo</translation>
    </message>
    <message>
        <source>Every chunk that was begun is in a checkpoint.</source>
        <translation>Todo fragmento empezado está en un punto de control.</translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s) are not in a checkpoint now; a resume trains them again. Stop would save them first.</source>
        <translation>
            <numerusform>%n fragmento no está ahora en un punto de control; una reanudación lo entrena de nuevo. Detener lo guardaría antes.</numerusform>
            <numerusform>%n fragmentos no están ahora en un punto de control; una reanudación los entrena de nuevo. Detener los guardaría antes.</numerusform>
        </translation>
    </message>
    <message>
        <source>only on the pages Charts and Coverage</source>
        <translation>solo en las páginas Gráficos y Cobertura</translation>
    </message>
    <message>
        <source>only on the page Charts</source>
        <translation>solo en la página Gráficos</translation>
    </message>
    <message>
        <source>no chunk is selected</source>
        <translation>no hay ningún fragmento seleccionado</translation>
    </message>
    <message>
        <source>The run has ended in the meantime.</source>
        <translation>La ejecución terminó entretanto.</translation>
    </message>
    <message>
        <source>the toolbar always stays</source>
        <translation>la barra de herramientas siempre queda</translation>
    </message>
    <message>
        <source>Chunks twice or missing</source>
        <translation>Fragmentos repetidos o ausentes</translation>
    </message>
    <message>
        <source>Chunks twice or missing %1 · %2</source>
        <translation>Fragmentos repetidos o ausentes %1 · %2</translation>
    </message>
    <message>
        <source>Cannot be read</source>
        <translation>No se puede leer</translation>
    </message>
    <message>
        <source>Let the workers continue</source>
        <translation>Dejar que los trabajadores sigan entrenando</translation>
    </message>
    <message>
        <source>Pause at the end of the chunks in training</source>
        <translation>Pausar al final de los fragmentos en curso</translation>
    </message>
    <message>
        <source>the folder of the run cannot be read</source>
        <translation>no se puede leer la carpeta de la ejecución</translation>
    </message>
    <message numerus="yes">
        <source>%1 is not a run, but it holds %n run(s): File &gt; Open workspace shows them.</source>
        <translation>
            <numerusform>%1 no es una ejecución, pero contiene %n: Archivo &gt; Abrir espacio de trabajo la muestra.</numerusform>
            <numerusform>%1 no es una ejecución, pero contiene %n: Archivo &gt; Abrir espacio de trabajo las muestra.</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 is not a run: it has no run.json. Choose the folder of one run.</source>
        <translation>%1 no es una ejecución: no tiene run.json. Elija la carpeta de una ejecución.</translation>
    </message>
    <message>
        <source>%1 is a run, not a workspace: File &gt; Open run folder shows it.</source>
        <translation>%1 es una ejecución, no un espacio de trabajo: Archivo &gt; Abrir carpeta de ejecución la muestra.</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>Writer: supervisor, stands still</source>
        <translation>Escribe: supervisor, parado</translation>
    </message>
    <message>
        <source>the run is being read</source>
        <translation>se está leyendo la ejecución</translation>
    </message>
    <message>
        <source>no chunk is selected that is not trained yet</source>
        <translation>no hay elegido ningún fragmento sin entrenar</translation>
    </message>
    <message>
        <source>Leave chunks out of this run</source>
        <translation>Excluir fragmentos de esta ejecución</translation>
    </message>
    <message numerus="yes">
        <source>Leave %n chunk(s) out of this run?</source>
        <translation>
            <numerusform>¿Excluir %n fragmento de esta ejecución?</numerusform>
            <numerusform>¿Excluir %n fragmentos de esta ejecución?</numerusform>
        </translation>
    </message>
    <message>
        <source>Leave out</source>
        <translation>Excluir</translation>
    </message>
    <message>
        <source>Keep them</source>
        <translation>Conservarlos</translation>
    </message>
    <message numerus="yes">
        <source>Add a tag to %n run(s)…</source>
        <translation>
            <numerusform>Añadir una etiqueta a %n ejecución…</numerusform>
            <numerusform>Añadir una etiqueta a %n ejecuciones…</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Move %n run(s) to trash…</source>
        <translation>
            <numerusform>Mover %n ejecución a la papelera…</numerusform>
            <numerusform>Mover %n ejecuciones a la papelera…</numerusform>
        </translation>
    </message>
    <message>
        <source>Add a tag</source>
        <translation>Añadir una etiqueta</translation>
    </message>
    <message>
        <source>Tag</source>
        <translation>Etiqueta</translation>
    </message>
    <message numerus="yes">
        <source>Add it to %n run(s)</source>
        <translation>
            <numerusform>Añadirla a %n ejecución</numerusform>
            <numerusform>Añadirla a %n ejecuciones</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Move %n run(s) to the trash of this workspace?</source>
        <translation>
            <numerusform>¿Mover %n ejecución a la papelera de este espacio de trabajo?</numerusform>
            <numerusform>¿Mover %n ejecuciones a la papelera de este espacio de trabajo?</numerusform>
        </translation>
    </message>
    <message>
        <source>The folders with their checkpoints move to %1. Nothing is deleted; they can be restored.</source>
        <translation>Las carpetas con sus puntos de control se mueven a %1. No se borra nada; se pueden restaurar.</translation>
    </message>
    <message numerus="yes">
        <source>Move %n run(s) to trash</source>
        <translation>
            <numerusform>Mover %n ejecución a la papelera</numerusform>
            <numerusform>Mover %n ejecuciones a la papelera</numerusform>
        </translation>
    </message>
    <message>
        <source>Keep the runs</source>
        <translation>Conservar las ejecuciones</translation>
    </message>
    <message numerus="yes">
        <source>%n of them are in the weights in part; that part stays, the rest is not trained.</source>
        <translation>
            <numerusform>%n de ellos está en parte en los pesos; esa parte se queda, el resto no se entrena.</numerusform>
            <numerusform>%n de ellos están en parte en los pesos; esa parte se queda, el resto no se entrena.</numerusform>
        </translation>
    </message>
    <message>
        <source>Tried again: %1.</source>
        <translation>Se intenta de nuevo: %1.</translation>
    </message>
    <message>
        <source>Not allowed</source>
        <translation>No permitido</translation>
    </message>
    <message>
        <source>You do not have the right to do this</source>
        <translation>No tiene permiso para hacer esto</translation>
    </message>
    <message>
        <source>Leave %1 out of this run?</source>
        <translation>¿Excluir %1 de esta ejecución?</translation>
    </message>
    <message>
        <source>Accept that %1 is not trained?</source>
        <translation>¿Aceptar que %1 no se entrene?</translation>
    </message>
    <message>
        <source>This chunk will be trained in no epoch that is open now nor in later ones of this run. It counts as excluded, and audit and reports name it. That cannot be taken back.</source>
        <translation>Este fragmento no se entrenará en ninguna época abierta ahora ni en las posteriores de esta ejecución. Cuenta como excluido, y la auditoría y los informes lo nombran. No se puede deshacer.</translation>
    </message>
    <message>
        <source>These chunks will be trained in no epoch that is open now nor in later ones of this run. They count as excluded, and audit and reports name them. That cannot be taken back.</source>
        <translation>Estos fragmentos no se entrenarán en ninguna época abierta ahora ni en las posteriores de esta ejecución. Cuentan como excluidos, y la auditoría y los informes los nombran. No se puede deshacer.</translation>
    </message>
    <message>
        <source>It is in the weights in part; that part stays, the rest is not trained.</source>
        <translation>Está en parte en los pesos; esa parte queda, el resto no se entrena.</translation>
    </message>
    <message numerus="yes">
        <source>%n other selected chunk(s) stay, trained already or in training.</source>
        <translation>
            <numerusform>Otro fragmento seleccionado (%n) queda, pues ya está entrenado o en entrenamiento.</numerusform>
            <numerusform>Otros %n fragmentos seleccionados quedan, pues ya están entrenados o en entrenamiento.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>furrow::MapLegend</name>
    <message>
        <source>Minutes since training</source>
        <translation>Minutos desde el entrenamiento</translation>
    </message>
    <message>
        <source>Epoch</source>
        <translation>Época</translation>
    </message>
    <message>
        <source>Worker</source>
        <translation>Trabajador</translation>
    </message>
    <message>
        <source>Attempt</source>
        <translation>Intento</translation>
    </message>
    <message>
        <source>State of each chunk</source>
        <translation>Estado de cada fragmento</translation>
    </message>
    <message>
        <source>sum</source>
        <translation>suma</translation>
    </message>
    <message>
        <source>twice</source>
        <translation>dos veces</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>falta</translation>
    </message>
    <message>
        <source>block open for claims</source>
        <translation>bloque abierto a reservas</translation>
    </message>
    <message>
        <source>Where the data of each block is</source>
        <translation>Dónde están los datos de cada bloque</translation>
    </message>
    <message>
        <source>remote</source>
        <translation>remoto</translation>
    </message>
    <message>
        <source>fetching</source>
        <translation>en preparación</translation>
    </message>
    <message>
        <source>evicted</source>
        <translation>retirado</translation>
    </message>
    <message>
        <source>prepared</source>
        <translation>preparado</translation>
    </message>
    <message>
        <source>What the parent run had trained</source>
        <translation>Lo que había entrenado la ejecución padre</translation>
    </message>
    <message>
        <source>new here</source>
        <translation>nuevo aquí</translation>
    </message>
    <message>
        <source>trained again</source>
        <translation>entrenado otra vez</translation>
    </message>
    <message>
        <source>left out</source>
        <translation>omitido</translation>
    </message>
    <message>
        <source>epoch %1 is open too, to come</source>
        <translation>la época %1 también está abierta, quedan</translation>
    </message>
    <message>
        <source>Trainings, parts and lost ones included</source>
        <translation>Entrenamientos, con partes y perdidos</translation>
    </message>
    <message>
        <source>trained again, work was lost</source>
        <translation>entrenado de nuevo, se perdió trabajo</translation>
    </message>
    <message>
        <source>not prepared</source>
        <translation>sin preparar</translation>
    </message>
    <message>
        <source>of lost ones kept in part</source>
        <translation>de los perdidos, conservados en parte</translation>
    </message>
    <message>
        <source>Loss above the trend, %1</source>
        <translation>Pérdida sobre la tendencia, %1</translation>
    </message>
    <message>
        <source>Loss, %1</source>
        <translation>Pérdida, %1</translation>
    </message>
    <message>
        <source>Loss against the other training, %1</source>
        <translation>Pérdida frente al otro entrenamiento, %1</translation>
    </message>
</context>
<context>
    <name>furrow::MemoryView</name>
    <message>
        <source>GPU memory, each</source>
        <translation>Memoria de GPU, cada una</translation>
    </message>
    <message>
        <source>Memory of each worker</source>
        <translation>Memoria de cada trabajador</translation>
    </message>
    <message>
        <source>not known yet</source>
        <translation>aún no se sabe</translation>
    </message>
    <message>
        <source>%1 parameters.</source>
        <translation>%1 parámetros.</translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>unos %1</translation>
    </message>
    <message>
        <source>free %1</source>
        <translation>libres %1</translation>
    </message>
    <message>
        <source>Known once the model can be built.</source>
        <translation>Se sabrá cuando el modelo pueda construirse.</translation>
    </message>
    <message>
        <source>The program itself %1, a copy for checkpoints %2.</source>
        <translation>El propio programa %1, una copia para los puntos de control %2.</translation>
    </message>
    <message numerus="yes">
        <source>%1 to %2, corrected by what %n worker(s) of earlier runs used. By formula: weights with their copies %3, gradients %4, optimiser %5, activations %6, logits %7.</source>
        <translation>
            <numerusform>De %1 a %2, corregido con lo que ocupó %n trabajador de ejecuciones anteriores. Según la fórmula: pesos con sus copias %3, gradientes %4, optimizador %5, activaciones %6, logits %7.</numerusform>
            <numerusform>De %1 a %2, corregido con lo que ocuparon %n trabajadores de ejecuciones anteriores. Según la fórmula: pesos con sus copias %3, gradientes %4, optimizador %5, activaciones %6, logits %7.</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 to %2 by formula: weights with their copies %3, gradients %4, optimiser %5, activations %6, logits %7.</source>
        <translation>De %1 a %2 según la fórmula: pesos con sus copias %3, gradientes %4, optimizador %5, activaciones %6, logits %7.</translation>
    </message>
    <message>
        <source>Known once what must be corrected is right.</source>
        <translation>Se sabrá cuando se corrija lo indicado.</translation>
    </message>
</context>
<context>
    <name>furrow::MergeDialog</name>
    <message>
        <source>Merge replicas</source>
        <translation>Fusionar réplicas</translation>
    </message>
    <message numerus="yes">
        <source>%n replica(s) trained separately</source>
        <translation>
            <numerusform>%n réplica entrenó por separado</numerusform>
            <numerusform>%n réplicas entrenaron por separado</numerusform>
        </translation>
    </message>
    <message>
        <source>Merging makes one model of them, and every replica continues from it. The checkpoints of the members stay, as far as the keep policy keeps them. All losses are on the same held-out text.</source>
        <translation>La fusión hace de ellas un solo modelo, y cada réplica sigue a partir de él. Los puntos de control de los miembros se conservan según la política de conservación. Todas las pérdidas son del mismo texto reservado.</translation>
    </message>
    <message>
        <source>Replica %1</source>
        <translation>Réplica %1</translation>
    </message>
    <message>
        <source>%1, %2 tokens</source>
        <translation>%1, %2 tokens</translation>
    </message>
    <message>
        <source>Merged</source>
        <translation>Fusionado</translation>
    </message>
    <message>
        <source>not made yet</source>
        <translation>aún no existe</translation>
    </message>
    <message>
        <source>Method</source>
        <translation>Método</translation>
    </message>
    <message>
        <source>as set for the run</source>
        <translation>como está configurada la ejecución</translation>
    </message>
    <message>
        <source>average, weighted by tokens</source>
        <translation>media ponderada por tokens</translation>
    </message>
    <message>
        <source>DiLoCo: outer momentum</source>
        <translation>DiLoCo: momento externo</translation>
    </message>
    <message>
        <source>Held-out loss of %1</source>
        <translation>Pérdida de eval. de %1</translation>
    </message>
    <message>
        <source>Evaluate members</source>
        <translation>Evaluar miembros</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
    <message numerus="yes">
        <source>Merge %n replica(s)</source>
        <translation>
            <numerusform>Fusionar %n réplica</numerusform>
            <numerusform>Fusionar %n réplicas</numerusform>
        </translation>
    </message>
    <message>
        <source>Evaluating %1…</source>
        <translation>Evaluando %1…</translation>
    </message>
    <message>
        <source>Merging…</source>
        <translation>Fusionando…</translation>
    </message>
    <message>
        <source>Nothing has been merged yet.</source>
        <translation>Aún no se fusionó nada.</translation>
    </message>
    <message>
        <source>Held-out loss</source>
        <translation>Pérdida de eval.</translation>
    </message>
    <message>
        <source>No replica has trained anything since the last merge.</source>
        <translation>Ninguna réplica ha entrenado nada desde la última fusión.</translation>
    </message>
    <message>
        <source>The merged weights are better than the best member by %1 %2.</source>
        <translation>Los pesos fusionados superan al mejor miembro en %1 %2.</translation>
    </message>
    <message>
        <source>The merged weights are worse than the best member by %1 %2; more training usually mends that.</source>
        <translation>Los pesos fusionados son peores que el mejor miembro en %1 %2; por lo general, más entrenamiento lo remedia.</translation>
    </message>
</context>
<context>
    <name>furrow::Meter</name>
    <message>
        <source>%1: %2 of %3, %4</source>
        <translation>%1: %2 de %3, %4</translation>
    </message>
    <message>
        <source>%1: %2, total not known yet</source>
        <translation>%1: %2, total aún desconocido</translation>
    </message>
    <message>
        <source>total not known yet</source>
        <translation>total aún desconocido</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
</context>
<context>
    <name>furrow::NewRunPage</name>
    <message>
        <source>New run</source>
        <translation>Nueva ejecución</translation>
    </message>
    <message>
        <source>Name of the run</source>
        <translation>Nombre de la ejecución</translation>
    </message>
    <message>
        <source>Find a setting</source>
        <translation>Buscar un ajuste</translation>
    </message>
    <message>
        <source>Changed only</source>
        <translation>Solo lo cambiado</translation>
    </message>
    <message>
        <source>Back to the runs</source>
        <translation>Volver a las ejecuciones</translation>
    </message>
    <message>
        <source>Presets</source>
        <translation>Preajustes</translation>
    </message>
    <message>
        <source>No setting matches.</source>
        <translation>Ningún ajuste coincide.</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Elegir…</translation>
    </message>
    <message>
        <source>%1, more</source>
        <translation>%1, más</translation>
    </message>
    <message>
        <source>%1
the file cannot be read</source>
        <translation>%1
no se puede leer el archivo</translation>
    </message>
    <message>
        <source>%1 in %2</source>
        <translation>%1 en %2</translation>
    </message>
    <message>
        <source>Changed only (%1)</source>
        <translation>Solo lo cambiado (%1)</translation>
    </message>
    <message>
        <source>Creating the run…</source>
        <translation>Creando la ejecución…</translation>
    </message>
    <message>
        <source>Save preset</source>
        <translation>Guardar preajuste</translation>
    </message>
    <message>
        <source>Choose the data</source>
        <translation>Elegir los datos</translation>
    </message>
    <message>
        <source>Folder with safetensors and their configuration</source>
        <translation>Carpeta con safetensors y su configuración</translation>
    </message>
    <message>
        <source>Name of the preset</source>
        <translation>Nombre del preajuste</translation>
    </message>
    <message>
        <source>Name (otherwise preset and data)</source>
        <translation>Nombre (o preajuste y datos)</translation>
    </message>
    <message>
        <source>a checkpoint…</source>
        <translation>un punto de control…</translation>
    </message>
    <message>
        <source>safetensors…</source>
        <translation>safetensors…</translation>
    </message>
    <message>
        <source>Start from</source>
        <translation>Partir de</translation>
    </message>
    <message>
        <source>Start from %1</source>
        <translation>Partir de %1</translation>
    </message>
    <message>
        <source>Built in</source>
        <translation>Incluidos</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>Propios</translation>
    </message>
    <message numerus="yes">
        <source>%1, %n other setting(s)</source>
        <translation>
            <numerusform>%1, %n ajuste distinto</numerusform>
            <numerusform>%1, %n ajustes distintos</numerusform>
        </translation>
    </message>
    <message>
        <source>Text data (*.txt *.csv *.tsv *.jsonl *.json *.parquet *.arrow *.feather *.warc *.wet *.gz *.zst *.xz *.bz2 *.zip *.tar *.tgz);;All files (*)</source>
        <translation>Datos de texto (*.txt *.csv *.tsv *.jsonl *.json *.parquet *.arrow *.feather *.warc *.wet *.gz *.zst *.xz *.bz2 *.zip *.tar *.tgz);;Todos los archivos (*)</translation>
    </message>
    <message>
        <source>All data together has about %1 tokens, less than one window of %2. Choose more text, or a shorter sequence length.</source>
        <translation>Todos los datos juntos tienen unos %1 tokens, menos que una ventana de %2. Elija más texto o una longitud de secuencia menor.</translation>
    </message>
    <message>
        <source>a GGUF…</source>
        <translation>un GGUF…</translation>
    </message>
    <message>
        <source>A model as GGUF</source>
        <translation>Un modelo como GGUF</translation>
    </message>
    <message>
        <source>a model on the hub…</source>
        <translation>un modelo del hub…</translation>
    </message>
</context>
<context>
    <name>furrow::NotesDialog</name>
    <message>
        <source>Tags and note of %1</source>
        <translation>Etiquetas y nota de %1</translation>
    </message>
    <message>
        <source>Separated by commas</source>
        <translation>Separadas por comas</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>Etiquetas</translation>
    </message>
    <message>
        <source>Group</source>
        <translation>Grupo</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>Nota</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
    <message>
        <source>Save notes</source>
        <translation>Guardar notas</translation>
    </message>
</context>
<context>
    <name>furrow::Notifier</name>
    <message>
        <source>The command for alerts could not be started: %1.</source>
        <translation>No se pudo iniciar la orden de avisos: %1.</translation>
    </message>
</context>
<context>
    <name>furrow::OverviewPage</name>
    <message>
        <source>Eval loss</source>
        <translation>Pérdida de evaluación</translation>
    </message>
    <message>
        <source>Tokens per second</source>
        <translation>Tokens por segundo</translation>
    </message>
    <message>
        <source>Optimiser steps</source>
        <translation>Pasos del optimizador</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>Active time</source>
        <translation>Tiempo activo</translation>
    </message>
    <message>
        <source>Newest checkpoint</source>
        <translation>Último punto de control</translation>
    </message>
    <message>
        <source>Newest text of the model</source>
        <translation>Último texto del modelo</translation>
    </message>
    <message>
        <source>The epoch stays open: %1</source>
        <translation>La época sigue abierta: %1</translation>
    </message>
    <message>
        <source>none yet</source>
        <translation>ninguno aún</translation>
    </message>
    <message>
        <source>%1 ago</source>
        <translation>hace %1</translation>
    </message>
    <message>
        <source>What the model writes after %1 steps</source>
        <translation>Lo que el modelo escribe tras %1 pasos</translation>
    </message>
    <message>
        <source>Samples read</source>
        <translation>Muestras leídas</translation>
    </message>
    <message>
        <source>Text read</source>
        <translation>Texto leído</translation>
    </message>
    <message>
        <source>Padding</source>
        <translation>Relleno</translation>
    </message>
    <message>
        <source>Feeder busy</source>
        <translation>Alimentador ocupado</translation>
    </message>
    <message>
        <source>Repeated text</source>
        <translation>Texto repetido</translation>
    </message>
    <message>
        <source>Training loss</source>
        <translation>Pérdida de entrenamiento</translation>
    </message>
    <message>
        <source>No steps recorded yet.</source>
        <translation>Aún no hay pasos registrados.</translation>
    </message>
    <message>
        <source>%1 blocks prepared, %2 found in the cache</source>
        <translation>%1 bloques preparados, %2 hallados en la caché</translation>
    </message>
    <message numerus="yes">
        <source>; downloaded %1 in %n request(s)</source>
        <translation>
            <numerusform>; descargados %1 en %n petición</numerusform>
            <numerusform>; descargados %1 en %n peticiones</numerusform>
        </translation>
    </message>
    <message>
        <source>At %1 MB/s while a block is made</source>
        <translation>A %1 MB/s mientras se prepara un bloque</translation>
    </message>
    <message>
        <source>Places in training windows that hold no token to learn from</source>
        <translation>Lugares de las ventanas de entrenamiento sin token del que aprender</translation>
    </message>
    <message>
        <source>Share of time that the feeder spends making blocks; near 100 % the workers may wait for data</source>
        <translation>Parte de su tiempo en que el alimentador prepara bloques; cerca del 100 % los trabajadores pueden esperar datos</translation>
    </message>
    <message>
        <source>Share of the text prepared in this attempt that repeats text before it, anywhere in the data, and is trained all the same</source>
        <translation>Parte del texto preparado en este intento que repite texto anterior, en cualquier lugar de los datos, y aun así se entrena</translation>
    </message>
    <message>
        <source>Blocks from the cache</source>
        <translation>Bloques de la caché</translation>
    </message>
    <message>
        <source>none, all cached</source>
        <translation>ninguna, todo en caché</translation>
    </message>
    <message>
        <source>From the sources, to make blocks; a block that lies prepared in the cache of the workspace is not read again</source>
        <translation>De las fuentes, para preparar bloques; un bloque que está preparado en la caché del espacio de trabajo no se vuelve a leer</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 de %2</translation>
    </message>
    <message>
        <source>Unknown characters</source>
        <translation>Caracteres desconocidos</translation>
    </message>
    <message>
        <source>Tokens that stand for characters the vocabulary does not have</source>
        <translation>Tokens en lugar de caracteres que el vocabulario no tiene</translation>
    </message>
    <message>
        <source>Uses of each sample</source>
        <translation>Usos de cada muestra</translation>
    </message>
    <message>
        <source>%1 times</source>
        <translation>%1 veces</translation>
    </message>
    <message>
        <source>Samples, all epochs</source>
        <translation>Muestras, todas las épocas</translation>
    </message>
    <message>
        <source>Loss, last step</source>
        <translation>Pérdida, último paso</translation>
    </message>
    <message>
        <source>No weights have been evaluated on held-out text yet</source>
        <translation>Todavía no se han evaluado pesos en el texto reservado</translation>
    </message>
    <message>
        <source>Repeats trained</source>
        <translation>Repeticiones entrenadas</translation>
    </message>
    <message>
        <source>Left when the run ended: %1</source>
        <translation>Lo que quedaba al terminar la ejecución: %1</translation>
    </message>
    <message>
        <source>Eval loss, not the newest, step %1</source>
        <translation>Pérdida de evaluación, no la más reciente, paso %1</translation>
    </message>
    <message>
        <source>Eval loss, merged, step %1</source>
        <translation>Pérdida de evaluación, fusionada, paso %1</translation>
    </message>
    <message>
        <source>Eval loss, worker %1, step %2</source>
        <translation>Pérdida de evaluación, trabajador %1, paso %2</translation>
    </message>
    <message>
        <source>Now, all workers together. Kept tokens per second of active time: %1</source>
        <translation>Ahora, todos los trabajadores juntos. Tokens conservados por segundo de tiempo activo: %1</translation>
    </message>
    <message>
        <source>No worker trains now. Kept tokens per second of active time: %1</source>
        <translation>Ahora no entrena ningún trabajador. Tokens conservados por segundo de tiempo activo: %1</translation>
    </message>
    <message>
        <source>%1 A worker counts its own steps, including those whose work was lost</source>
        <translation>%1 Un trabajador cuenta sus propios pasos, también aquellos cuyo trabajo se perdió</translation>
    </message>
    <message numerus="yes">
        <source>Mean of %n worker(s), of the loss of their newest step, weighted by the tokens trained; the curves are smoothed</source>
        <translation>
            <numerusform>Media de %n trabajador de la pérdida de su último paso, ponderada por los tokens entrenados; las curvas están suavizadas</numerusform>
            <numerusform>Media de %n trabajadores de la pérdida de su último paso, ponderada por los tokens entrenados; las curvas están suavizadas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The newest steps of %n of them are lost and are trained again</source>
        <translation>
            <numerusform>Los pasos más recientes de %n de ellos se han perdido y se entrenan de nuevo</numerusform>
            <numerusform>Los pasos más recientes de %n de ellos se han perdido y se entrenan de nuevo</numerusform>
        </translation>
    </message>
    <message>
        <source>Of all epochs: a sample counts once for each epoch it was trained in, in a chunk that is committed or was left out after a part of it was. Samples that were left out because their steps were not finite are not among them</source>
        <translation>De todas las épocas: una muestra cuenta una vez por cada época en la que se entrenó, en un fragmento que está confirmado o que se omitió después de confirmarse una parte. Las muestras omitidas porque sus pasos no eran finitos no están entre ellas</translation>
    </message>
    <message>
        <source>Samples trained, over all epochs, per sample to be trained; what is held out or left out is not counted</source>
        <translation>Muestras entrenadas, en todas las épocas, por cada muestra que hay que entrenar; lo reservado u omitido no se cuenta</translation>
    </message>
</context>
<context>
    <name>furrow::OverviewStrip</name>
    <message>
        <source>Visible range</source>
        <translation>Rango visible</translation>
    </message>
</context>
<context>
    <name>furrow::QuarantineDialog</name>
    <message>
        <source>Quarantine list</source>
        <translation>Lista de cuarentena</translation>
    </message>
    <message>
        <source>List</source>
        <translation>Lista</translation>
    </message>
    <message>
        <source>left-out</source>
        <translation>excluidos</translation>
    </message>
    <message>
        <source>Name of the list</source>
        <translation>Nombre de la lista</translation>
    </message>
    <message>
        <source>What is left out</source>
        <translation>Qué se excluye</translation>
    </message>
    <message>
        <source>One entry per line:
chunk BLOCK:COLUMN
sample FINGERPRINT
pattern REGULAR EXPRESSION</source>
        <translation>Una entrada por línea:
chunk BLOQUE:COLUMNA
sample HUELLA
pattern EXPRESIÓN REGULAR</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
    <message>
        <source>Save list</source>
        <translation>Guardar la lista</translation>
    </message>
    <message>
        <source>New run without these…</source>
        <translation>Ejecución nueva sin estos…</translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s)</source>
        <translation>
            <numerusform>%n fragmento</numerusform>
            <numerusform>%n fragmentos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s)</source>
        <translation>
            <numerusform>%n muestra</numerusform>
            <numerusform>%n muestras</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>A list applies to later runs. Existing runs are not changed; chunks of the run that is shown are left out by the menu Data. Chunks are named by their place, so they mean the same only with the same data, samples per block and chunk size. Samples and patterns mean the same everywhere.</source>
        <translation>Una lista se aplica a ejecuciones posteriores. Las existentes no cambian; los fragmentos de la ejecución mostrada se excluyen desde el menú Datos. Los fragmentos se nombran por su lugar, así que solo significan lo mismo con los mismos datos, muestras por bloque y tamaño de fragmento. Las muestras y los patrones significan lo mismo en todas partes.</translation>
    </message>
</context>
<context>
    <name>furrow::QueueDock</name>
    <message>
        <source>Pause queue</source>
        <translation>Pausar cola</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>Antes</translation>
    </message>
    <message>
        <source>Later</source>
        <translation>Después</translation>
    </message>
    <message>
        <source>Let the next one run</source>
        <translation>Dejar pasar la siguiente</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Sacar</translation>
    </message>
    <message>
        <source>Clear ended</source>
        <translation>Quitar terminadas</translation>
    </message>
    <message>
        <source>Stop this run after a checkpoint and start the next one in its lane; it continues afterwards</source>
        <translation>Detener esta ejecución tras un punto de control y empezar la siguiente de su carril; continúa después</translation>
    </message>
    <message>
        <source>Start queue</source>
        <translation>Iniciar cola</translation>
    </message>
    <message>
        <source>No run is waiting. “Queue” in a new run puts it here; runs that share a device wait for each other.</source>
        <translation>No espera ninguna ejecución. «Cola» en una ejecución nueva la pone aquí; las que comparten un dispositivo se esperan.</translation>
    </message>
    <message>
        <source>Paused: nothing new is started; what is training goes on.</source>
        <translation>En pausa: no se inicia nada nuevo; lo que está entrenando sigue.</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) waiting or training.</source>
        <translation>
            <numerusform>%n ejecución espera o entrena.</numerusform>
            <numerusform>%n ejecuciones esperan o entrenan.</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing is waiting.</source>
        <translation>Nada espera.</translation>
    </message>
    <message>
        <source>No process runs the queue: nothing of it is started.</source>
        <translation>Ningún proceso ejecuta la cola: no se inicia nada de ella.</translation>
    </message>
</context>
<context>
    <name>furrow::RatePreview</name>
    <message>
        <source>Learning rate</source>
        <translation>Tasa de aprendizaje</translation>
    </message>
    <message>
        <source>As usual: smoothly into a new schedule</source>
        <translation>Lo habitual: pasar suavemente al nuevo plan</translation>
    </message>
    <message>
        <source>The schedule keeps its length</source>
        <translation>El plan conserva su duración</translation>
    </message>
    <message>
        <source>The new schedule at once</source>
        <translation>El nuevo plan de inmediato</translation>
    </message>
    <message>
        <source>A new cycle from here, with a new warm-up</source>
        <translation>Un ciclo nuevo desde aquí, con un nuevo calentamiento</translation>
    </message>
    <message>
        <source>How the learning rate goes on</source>
        <translation>Cómo sigue la tasa de aprendizaje</translation>
    </message>
</context>
<context>
    <name>furrow::ReplayBar</name>
    <message>
        <source>Moment of the run</source>
        <translation>Momento de la ejecución</translation>
    </message>
    <message>
        <source>Speed of the replay</source>
        <translation>Velocidad de la repetición</translation>
    </message>
    <message>
        <source>%1. Take every view back to a past moment; the run goes on</source>
        <translation>%1. Llevar todas las vistas a un momento pasado; la ejecución sigue</translation>
    </message>
</context>
<context>
    <name>furrow::ResumeDialog</name>
    <message>
        <source>Start %1</source>
        <translation>Iniciar %1</translation>
    </message>
    <message>
        <source>Resume %1</source>
        <translation>Reanudar %1</translation>
    </message>
    <message>
        <source>Attempt 1 begins with fresh weights</source>
        <translation>El intento 1 empieza con pesos nuevos</translation>
    </message>
    <message>
        <source>What happens to each chunk</source>
        <translation>Qué ocurre con cada fragmento</translation>
    </message>
    <message>
        <source>No chunk is known yet.</source>
        <translation>Aún no se conoce ningún fragmento.</translation>
    </message>
    <message numerus="yes">
        <source>Map of %n chunk(s); the counts beside it say the same</source>
        <translation>
            <numerusform>Mapa de %n fragmento; los números de al lado dicen lo mismo</numerusform>
            <numerusform>Mapa de %n fragmentos; los números de al lado dicen lo mismo</numerusform>
        </translation>
    </message>
    <message>
        <source>Dry run</source>
        <translation>Ensayo</translation>
    </message>
    <message>
        <source>Kept</source>
        <translation>Se conservan</translation>
    </message>
    <message>
        <source>in checkpoints that are on disk and verified</source>
        <translation>en puntos de control que están en disco y verificados</translation>
    </message>
    <message>
        <source>To be redone</source>
        <translation>Por repetir</translation>
    </message>
    <message>
        <source>Work lost</source>
        <translation>Trabajo perdido</translation>
    </message>
    <message>
        <source>Orphaned claims released</source>
        <translation>Reservas huérfanas liberadas</translation>
    </message>
    <message>
        <source>Free</source>
        <translation>Libres</translation>
    </message>
    <message>
        <source>sum %1</source>
        <translation>suma %1</translation>
    </message>
    <message>
        <source>Copy command</source>
        <translation>Copiar orden</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
    <message>
        <source>Start as attempt 1</source>
        <translation>Iniciar como intento 1</translation>
    </message>
    <message>
        <source>Resume as attempt %1</source>
        <translation>Reanudar como intento %1</translation>
    </message>
    <message>
        <source>chunks twice %1</source>
        <translation>fragmentos dobles %1</translation>
    </message>
    <message>
        <source>missing %1</source>
        <translation>faltan %1</translation>
    </message>
    <message>
        <source>Start from</source>
        <translation>Partir de</translation>
    </message>
    <message>
        <source>From an older checkpoint, what is newer leaves the weights: its chunks are free again and are trained once more. The files stay for sampling and new runs.</source>
        <translation>Desde un punto de control anterior, lo más reciente sale de los pesos: sus fragmentos quedan libres y se entrenan otra vez. Los archivos se quedan para generar texto y para ejecuciones nuevas.</translation>
    </message>
    <message>
        <source>No chunk is trained again.</source>
        <translation>Ningún fragmento se entrena otra vez.</translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s) are trained again, about %1; after that each is in the weights once.</source>
        <translation>
            <numerusform>%n fragmento se entrena de nuevo, unos %1; después cada uno está una vez en los pesos.</numerusform>
            <numerusform>%n fragmentos se entrenan de nuevo, unos %1; después cada uno está una vez en los pesos.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s) are trained again; after that each is in the weights once.</source>
        <translation>
            <numerusform>%n fragmento se entrena de nuevo; después cada uno está una vez en los pesos.</numerusform>
            <numerusform>%n fragmentos se entrenan de nuevo; después cada uno está una vez en los pesos.</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing changes until you press the button below.</source>
        <translation>Nada cambia hasta que pulse el botón de abajo.</translation>
    </message>
    <message>
        <source>Changed for attempt %1</source>
        <translation>Cambios para el intento %1</translation>
    </message>
    <message>
        <source>After an interruption, resume automatically, at most %1 times</source>
        <translation>Reanudar sola tras una interrupción (%1 veces como máximo)</translation>
    </message>
    <message>
        <source>Change settings or devices…</source>
        <translation>Cambiar ajustes o dispositivos…</translation>
    </message>
    <message>
        <source>only in a checkpoint that is damaged or cannot be read</source>
        <translation>solo en un punto de control dañado o que no se puede leer</translation>
    </message>
    <message>
        <source>trained after checkpoint %1, or only in one that is incomplete</source>
        <translation>entrenados después del punto de control %1, o solo en uno que no está íntegro</translation>
    </message>
    <message numerus="yes">
        <source>I accept that %n chunk(s) are trained again</source>
        <translation>
            <numerusform>Acepto que %n fragmento se entrene de nuevo</numerusform>
            <numerusform>Acepto que %n fragmentos se entrenen de nuevo</numerusform>
        </translation>
    </message>
    <message>
        <source>Epoch of the map</source>
        <translation>Época del mapa</translation>
    </message>
    <message>
        <source>The counts are of all these epochs together, the map is of one.</source>
        <translation>Los números son de todas estas épocas juntas, el mapa es de una.</translation>
    </message>
    <message>
        <source>trained or begun after the newest checkpoint; those weights are gone</source>
        <translation>entrenados o empezados después del punto de control más reciente; esos pesos se han perdido</translation>
    </message>
    <message>
        <source>claimed by workers that are gone, never begun</source>
        <translation>reservados por procesos que ya no existen, nunca empezados</translation>
    </message>
    <message numerus="yes">
        <source>Map of %n chunk(s) of epoch %1; the counts beside it are of all open epochs</source>
        <translation>
            <numerusform>Mapa de %n fragmento de la época %1; los números de al lado son de todas las épocas abiertas</numerusform>
            <numerusform>Mapa de %n fragmentos de la época %1; los números de al lado son de todas las épocas abiertas</numerusform>
        </translation>
    </message>
    <message>
        <source>Look again</source>
        <translation>Mirar de nuevo</translation>
    </message>
    <message>
        <source>Partly trained</source>
        <translation>Entrenados en parte</translation>
    </message>
    <message>
        <source>a part of each is in checkpoints and kept; only the rest is trained, nothing of them again</source>
        <translation>una parte de cada uno está en puntos de control y se conserva; solo se entrena el resto, de esa parte no se repite nada</translation>
    </message>
    <message>
        <source>; of %1 of them a part is in checkpoints and kept</source>
        <translation>; de %1 de ellos una parte está en puntos de control y se conserva</translation>
    </message>
    <message>
        <source>Attempt %1 failed: %2</source>
        <translation>El intento %1 falló: %2</translation>
    </message>
    <message>
        <source>I accept that the run goes on without it</source>
        <translation>Acepto que la ejecución continúe sin ello</translation>
    </message>
    <message>
        <source>Partly trained: %1; what is trained of them is kept.</source>
        <translation>Entrenados en parte: %1; lo ya entrenado de ellos se conserva.</translation>
    </message>
    <message>
        <source>trained or begun after the checkpoint; those weights are gone, or left behind</source>
        <translation>entrenado o empezado después del punto de control; esos pesos ya no existen o se dejan atrás</translation>
    </message>
    <message>
        <source>nobody holds them; %1 excluded and %2 poisoned or accepted stay so</source>
        <translation>nadie los tiene; %1 excluidos y %2 envenenados o aceptados siguen así</translation>
    </message>
    <message>
        <source>; of these left out, their steps were not finite: %1</source>
        <translation>; de ellos omitidos, sus pasos no eran finitos: %1</translation>
    </message>
    <message numerus="yes">
        <source>; %Ln of them were left when the run went back to an older checkpoint</source>
        <translation>
            <numerusform>; %Ln de ellos se dejó atrás cuando la ejecución volvió a un punto de control anterior</numerusform>
            <numerusform>; %Ln de ellos se dejaron atrás cuando la ejecución volvió a un punto de control anterior</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>; %Ln of them were only in a checkpoint that was damaged, gone or left out of a merge</source>
        <translation>
            <numerusform>; %Ln de ellos solo estaba en un punto de control que estaba dañado, había desaparecido o quedó fuera de una fusión</numerusform>
            <numerusform>; %Ln de ellos solo estaban en un punto de control que estaba dañado, había desaparecido o quedó fuera de una fusión</numerusform>
        </translation>
    </message>
    <message>
        <source>; chunks that are tried again because their files came wrong: %1</source>
        <translation>; fragmentos que se intentan de nuevo porque sus archivos llegaron mal: %1</translation>
    </message>
    <message numerus="yes">
        <source>Attempt %1 keeps %2 of the %Ln chunk(s) of %3 that were trained or begun</source>
        <translation>
            <numerusform>El intento %1 conserva %2 de %Ln fragmento entrenado o empezado de: %3</numerusform>
            <numerusform>El intento %1 conserva %2 de los %Ln fragmentos entrenados o empezados de: %3</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Attempt %1 starts from checkpoint %2 and keeps %3 of the %Ln chunk(s) of %4 that were trained or begun</source>
        <translation>
            <numerusform>El intento %1 parte del punto de control %2 y conserva %3 de %Ln fragmento entrenado o empezado de: %4</numerusform>
            <numerusform>El intento %1 parte del punto de control %2 y conserva %3 de los %Ln fragmentos entrenados o empezados de: %4</numerusform>
        </translation>
    </message>
    <message>
        <source>; trained by the parent run and left out here: %1</source>
        <translation>; entrenados por la ejecución padre y omitidos aquí: %1</translation>
    </message>
    <message numerus="yes">
        <source>Not on this map: %Ln chunk(s) of %1, to be redone too.</source>
        <translation>
            <numerusform>No está en este mapa: %Ln fragmento de %1, que también se repite.</numerusform>
            <numerusform>No están en este mapa: %Ln fragmentos de %1, que también se repiten.</numerusform>
        </translation>
    </message>
    <message>
        <source>Look at the checkpoints and the data once more: a disk may be back</source>
        <translation>Volver a mirar los puntos de control y los datos: puede que un disco haya vuelto</translation>
    </message>
    <message>
        <source>Of %1 of these a part is kept (%2 of their %3 samples), and only the rest is trained.</source>
        <translation>De %1 de ellos se conserva una parte (%2 de sus %3 muestras), y solo se entrena el resto.</translation>
    </message>
</context>
<context>
    <name>furrow::RunBanner</name>
    <message>
        <source>How do we know?</source>
        <translation>¿Cómo lo sabemos?</translation>
    </message>
    <message>
        <source>Resume…</source>
        <translation>Reanudar…</translation>
    </message>
    <message>
        <source>Inspect</source>
        <translation>Examinar</translation>
    </message>
    <message>
        <source>This run cannot be read</source>
        <translation>Esta ejecución no se puede leer</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>Mark finished</source>
        <translation>Marcar como terminada</translation>
    </message>
    <message>
        <source>Accept the run as it is. It can still be resumed later.</source>
        <translation>Aceptar la ejecución como terminada tal como está. Se puede reanudar más adelante.</translation>
    </message>
    <message>
        <source>Cancel automatic resume</source>
        <translation>Cancelar la reanudación automática</translation>
    </message>
    <message>
        <source>%1 Resumes by itself in %2 (%3 of %4).</source>
        <translation>%1 Se reanuda por sí misma en %2 (%3 de %4).</translation>
    </message>
    <message>
        <source>%1 at %2</source>
        <translation>%1 (%2)</translation>
    </message>
    <message>
        <source>This run cannot be read any more</source>
        <translation>Esta ejecución ya no se puede leer</translation>
    </message>
    <message>
        <source>%1 What is shown is from %2, when it was last read. It continues by itself when the folder is back.</source>
        <translation>%1 Se muestra lo que se leyó por última vez (%2). Continuará por sí sola cuando vuelva la carpeta.</translation>
    </message>
    <message>
        <source>The checkpoints cannot be found</source>
        <translation>Faltan los puntos de control</translation>
    </message>
    <message>
        <source>The run waits for its data</source>
        <translation>La ejecución espera sus datos</translation>
    </message>
    <message>
        <source>The run is about to stop</source>
        <translation>La ejecución va a detenerse</translation>
    </message>
</context>
<context>
    <name>furrow::RunListModel</name>
    <message>
        <source>no end was recorded</source>
        <translation>no se registró el final</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 a %2</translation>
    </message>
    <message>
        <source>since %1</source>
        <translation>desde %1</translation>
    </message>
    <message>
        <source>from %1</source>
        <translation>a partir de %1</translation>
    </message>
    <message>
        <source>Attempt %1</source>
        <translation>Intento %1</translation>
    </message>
    <message>
        <source>%1 steps</source>
        <translation>%1 pasos</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>1 step</source>
        <translation>1 paso</translation>
    </message>
</context>
<context>
    <name>furrow::RunView</name>
    <message>
        <source>Overview</source>
        <translation>Resumen</translation>
    </message>
    <message>
        <source>Charts</source>
        <translation>Gráficos</translation>
    </message>
    <message>
        <source>Coverage</source>
        <translation>Cobertura</translation>
    </message>
    <message>
        <source>Workers</source>
        <translation>Trabajadores</translation>
    </message>
    <message>
        <source>Config</source>
        <translation>Configuración</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Log</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>Datos</translation>
    </message>
    <message>
        <source>Pages of the run</source>
        <translation>Páginas de la ejecución</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>Muestreo</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
</context>
<context>
    <name>furrow::SamplingPage</name>
    <message>
        <source>What the model writes</source>
        <translation>Lo que escribe el modelo</translation>
    </message>
    <message>
        <source>Written during training</source>
        <translation>Escrito durante el entrenamiento</translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation>Punto de control</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Texto inicial</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>Write text</source>
        <translation>Escribir texto</translation>
    </message>
    <message>
        <source>No checkpoint has been saved yet.</source>
        <translation>Aún no se ha guardado ningún punto de control.</translation>
    </message>
    <message>
        <source>Stopped by you.</source>
        <translation>Detenido por usted.</translation>
    </message>
    <message>
        <source>Loading the checkpoint, then writing…</source>
        <translation>Cargando el punto de control y escribiendo…</translation>
    </message>
    <message>
        <source>after %1 steps</source>
        <translation>tras %1 pasos</translation>
    </message>
    <message>
        <source>None. The setting “Sample every” writes some text while the run trains.</source>
        <translation>Ninguno. El ajuste «Generar texto cada» escribe texto mientras se entrena.</translation>
    </message>
    <message>
        <source>Writing…</source>
        <translation>Escribiendo…</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Detener</translation>
    </message>
    <message>
        <source>Empty: a text of its own</source>
        <translation>Vacío: un texto propio</translation>
    </message>
</context>
<context>
    <name>furrow::SeriesChart</name>
    <message>
        <source>No steps recorded yet.</source>
        <translation>Aún no hay pasos registrados.</translation>
    </message>
    <message>
        <source>%1 NaN</source>
        <translation>%1 NaN</translation>
    </message>
    <message>
        <source>%1 infinite</source>
        <translation>%1 infinitos</translation>
    </message>
    <message>
        <source>falling</source>
        <translation>bajando</translation>
    </message>
    <message>
        <source>rising</source>
        <translation>subiendo</translation>
    </message>
    <message>
        <source>level</source>
        <translation>estable</translation>
    </message>
    <message>
        <source>%1 %2, at %3, %4</source>
        <translation>%1 %2, en %3, %4</translation>
    </message>
    <message>
        <source>1 px = %1 points, min and max kept</source>
        <translation>1 px = %1 puntos, se conservan mínimo y máximo</translation>
    </message>
    <message>
        <source>mean</source>
        <translation>media</translation>
    </message>
    <message>
        <source>eval</source>
        <translation>evaluación</translation>
    </message>
    <message>
        <source>%1, smoothed</source>
        <translation>%1, suavizada</translation>
    </message>
    <message numerus="yes">
        <source>%1, mean of %n workers</source>
        <translation>
            <numerusform>%1, media de %n trabajador</numerusform>
            <numerusform>%1, media de %n trabajadores</numerusform>
        </translation>
    </message>
    <message>
        <source>jumps of the loss</source>
        <translation>saltos de la pérdida</translation>
    </message>
    <message>
        <source>eval (lost)</source>
        <translation>evaluación (perdida)</translation>
    </message>
</context>
<context>
    <name>furrow::ShortcutSheet</name>
    <message>
        <source>Shortcuts</source>
        <translation>Atajos</translation>
    </message>
    <message>
        <source>Sort a table by the column of its cursor</source>
        <translation>Ordenar una tabla por la columna del cursor</translation>
    </message>
</context>
<context>
    <name>furrow::SmallCharts</name>
    <message>
        <source>The replicas have not been merged yet.</source>
        <translation>Las réplicas aún no se han fusionado.</translation>
    </message>
</context>
<context>
    <name>furrow::StartMap</name>
    <message>
        <source>Chunk to start at</source>
        <translation>Fragmento por el que empezar</translation>
    </message>
    <message>
        <source>Planned from the number of samples. Where chunks would become larger than allowed they end earlier, so a block may have more of them.</source>
        <translation>Planificado según el número de muestras. Los fragmentos que serían mayores de lo permitido terminan antes, así que un bloque puede tener más.</translation>
    </message>
    <message>
        <source>Choose the data first: its blocks and chunks are shown here, to click the one to start at.</source>
        <translation>Elija primero los datos: aquí se muestran sus bloques y fragmentos, para hacer clic en aquel por el que empezar.</translation>
    </message>
    <message>
        <source>Looking at the data…</source>
        <translation>Examinando los datos…</translation>
    </message>
    <message>
        <source>The data cannot be read, so its chunks are not known.</source>
        <translation>Los datos no se pueden leer, así que sus fragmentos no se conocen.</translation>
    </message>
    <message>
        <source>How this data is cut into blocks and chunks is not known before the run, so there is no map. A chunk can be typed above.</source>
        <translation>Antes de la ejecución no se sabe cómo se cortan estos datos en bloques y fragmentos, así que no hay mapa. Arriba se puede escribir un fragmento.</translation>
    </message>
    <message>
        <source>The data has %1 chunks, too many for a map of this size. One can be typed above.</source>
        <translation>Los datos tienen %1 fragmentos, demasiados para un mapa de este tamaño. Arriba se puede escribir uno.</translation>
    </message>
    <message numerus="yes">
        <source>%n block(s)</source>
        <translation>
            <numerusform>%n bloque</numerusform>
            <numerusform>%n bloques</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s)</source>
        <translation>
            <numerusform>%n fragmento</numerusform>
            <numerusform>%n fragmentos</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 The first epoch starts at %2 and ends with what comes before it.</source>
        <translation>%1 La primera época empieza en el %2 y termina con lo que hay delante.</translation>
    </message>
    <message>
        <source>Choose none</source>
        <translation>No elegir ninguno</translation>
    </message>
    <message>
        <source>Without a chunk the first epoch begins wherever its order begins.</source>
        <translation>Sin un fragmento elegido, la primera época empieza donde empiece su orden.</translation>
    </message>
    <message>
        <source>%1 No chunk is chosen. Click the one to start at, or move there with the arrow keys.</source>
        <translation>%1 No se ha elegido ningún fragmento. Haga clic en aquel por el que empezar, o vaya hasta él con las flechas.</translation>
    </message>
</context>
<context>
    <name>furrow::TaskRunner</name>
    <message>
        <source>%1 could not be run: %2.</source>
        <translation>No se pudo ejecutar %1: %2.</translation>
    </message>
</context>
<context>
    <name>furrow::TokenView</name>
    <message numerus="yes">
        <source>%n tokens: %1</source>
        <translation>
            <numerusform>%n token: %1</numerusform>
            <numerusform>%n tokens: %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>furrow::TorchDialog</name>
    <message>
        <source>Install libtorch</source>
        <translation>Instalar libtorch</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Progreso</translation>
    </message>
    <message>
        <source>Training uses libtorch, which is not part of Furrow. One that is on this computer can be used as it is; otherwise it is downloaded from the package index that pip is configured for, and compared with a hash that Furrow knows.</source>
        <translation>El entrenamiento calcula con libtorch, que no forma parte de Furrow. Si ya hay una en este equipo, se puede usar tal cual; si no, se descarga del índice de paquetes que pip tiene configurado y se compara con un hash que Furrow conoce.</translation>
    </message>
    <message>
        <source>With CUDA&apos;s libraries, for GPUs of NVIDIA</source>
        <translation>Con las bibliotecas de CUDA, para GPU de NVIDIA</translation>
    </message>
    <message>
        <source>Look on this computer</source>
        <translation>Buscar en este equipo</translation>
    </message>
    <message>
        <source>From a folder of wheels…</source>
        <translation>De una carpeta de wheels…</translation>
    </message>
    <message>
        <source>Folder of wheels</source>
        <translation>Carpeta de wheels</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
    <message>
        <source>Install</source>
        <translation>Instalar</translation>
    </message>
    <message>
        <source>Working…</source>
        <translation>Trabajando…</translation>
    </message>
    <message>
        <source>Fetching %1 (%2)</source>
        <translation>Descargando %1 (%2)</translation>
    </message>
    <message>
        <source>Unpacking %1 (%2)</source>
        <translation>Descomprimiendo %1 (%2)</translation>
    </message>
    <message>
        <source>libtorch is there and works.</source>
        <translation>libtorch está presente y funciona.</translation>
    </message>
</context>
<context>
    <name>furrow::UntilRead</name>
    <message>
        <source>Reading…</source>
        <translation>Leyendo…</translation>
    </message>
</context>
<context>
    <name>furrow::WeightsChoice</name>
    <message>
        <source>merge</source>
        <translation>fusión</translation>
    </message>
    <message>
        <source>replica %1</source>
        <translation>réplica %1</translation>
    </message>
    <message>
        <source>, eval loss %1</source>
        <translation>, pérdida de evaluación %1</translation>
    </message>
    <message>
        <source>%1 of %2, step %3%4</source>
        <translation>%1 de %2, paso %3%4</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nada</translation>
    </message>
    <message>
        <source>the newest: %1</source>
        <translation>el más reciente: %1</translation>
    </message>
    <message>
        <source>the newest</source>
        <translation>el más reciente</translation>
    </message>
    <message>
        <source>%1, the newest</source>
        <translation>%1, el más reciente</translation>
    </message>
</context>
<context>
    <name>furrow::WelcomePage</name>
    <message>
        <source>New run</source>
        <translation>Nueva ejecución</translation>
    </message>
    <message>
        <source>Open run folder…</source>
        <translation>Abrir carpeta de ejecución…</translation>
    </message>
    <message>
        <source>Select a run in the library, or start a new one in %1.</source>
        <translation>Elija una ejecución en la biblioteca, o empiece una nueva en %1.</translation>
    </message>
    <message>
        <source>Start demonstration run</source>
        <translation>Iniciar ejecución de demostración</translation>
    </message>
    <message>
        <source>No runs in this workspace yet. The demonstration trains a small text that comes with Furrow on the CPU; the loss falls within seconds.</source>
        <translation>Aún no hay ejecuciones en este espacio de trabajo. La demostración entrena en la CPU un pequeño texto incluido en Furrow; la pérdida baja en segundos.</translation>
    </message>
</context>
<context>
    <name>furrow::WordsDialog</name>
    <message>
        <source>One text of the data set.</source>
        <translation>Un texto del conjunto de datos.</translation>
    </message>
    <message>
        <source>The samples that one worker claims and trains at a time. Its size does not change GPU memory: batch size times context does.</source>
        <translation>Las muestras que un trabajador reserva y entrena de una vez. Su tamaño no cambia la memoria de GPU: eso lo hace el lote por el contexto.</translation>
    </message>
    <message>
        <source>Consecutive samples that are fetched, cleaned and cut into tokens as one unit. A block is made of chunks.</source>
        <translation>Muestras consecutivas que se traen, limpian y cortan en tokens como una unidad. Un bloque consta de fragmentos.</translation>
    </message>
    <message>
        <source>The windows of tokens in one micro-step of one worker. It decides how much memory a step takes.</source>
        <translation>Las ventanas de tokens en un micropaso de un trabajador. Decide cuánta memoria ocupa un paso.</translation>
    </message>
    <message>
        <source>How many tokens the model sees at once.</source>
        <translation>Cuántos tokens ve el modelo a la vez.</translation>
    </message>
    <message>
        <source>Every chunk of every block committed once, or named as excluded or poisoned.</source>
        <translation>Cada fragmento de cada bloque confirmado una vez, o nombrado como excluido o envenenado.</translation>
    </message>
    <message>
        <source>One training job with its frozen configuration. It lives in one folder.</source>
        <translation>Un trabajo de entrenamiento con su configuración congelada. Vive en una carpeta.</translation>
    </message>
    <message>
        <source>One stretch of a run from start or resume until stop, crash or end.</source>
        <translation>Un tramo de una ejecución desde el inicio o la reanudación hasta la parada, el fallo o el final.</translation>
    </message>
    <message>
        <source>One process on one device that claims chunks and trains them.</source>
        <translation>Un proceso en un dispositivo que reserva fragmentos y los entrena.</translation>
    </message>
    <message>
        <source>The chunk is in a checkpoint. Trained means: in the weights of a worker, not saved yet; a crash costs that work.</source>
        <translation>El fragmento está en un punto de control. Entrenado significa: en los pesos de un trabajador, aún sin guardar; un fallo cuesta ese trabajo.</translation>
    </message>
    <message>
        <source>The chunk failed too often. It keeps the epoch open until it is accepted or tried again.</source>
        <translation>El fragmento falló demasiadas veces. Mantiene abierta la época hasta que se acepte o se reintente.</translation>
    </message>
    <message>
        <source>No process of the run is alive and none recorded why it ended: the computer stopped or the processes were killed. Resume shows what would be trained again before it does anything.</source>
        <translation>Ningún proceso de la ejecución está vivo y ninguno registró por qué terminó: el equipo se apagó o se forzó el cierre de los procesos. Reanudar muestra qué se entrenaría de nuevo antes de hacer nada.</translation>
    </message>
    <message>
        <source>The weights of the workers become one set of weights.</source>
        <translation>Los pesos de los trabajadores pasan a ser un solo conjunto de pesos.</translation>
    </message>
</context>
<context>
    <name>furrow::WorkerCard</name>
    <message>
        <source>Worker %1</source>
        <translation>Trabajador %1</translation>
    </message>
    <message>
        <source>How far the chunk is</source>
        <translation>Avance del fragmento</translation>
    </message>
    <message>
        <source>%1, process %2</source>
        <translation>%1, proceso %2</translation>
    </message>
    <message numerus="yes">
        <source>, %n restart(s)</source>
        <translation>
            <numerusform>, %n reinicio</numerusform>
            <numerusform>, %n reinicios</numerusform>
        </translation>
    </message>
    <message>
        <source>not alive</source>
        <translation>no está vivo</translation>
    </message>
    <message>
        <source>Worker %1: %2, loss %3, %4</source>
        <translation>Trabajador %1: %2, pérdida %3, %4</translation>
    </message>
    <message>
        <source>%1 steps</source>
        <translation>%1 pasos</translation>
    </message>
    <message>
        <source>At most %1 of memory, %2 times the estimate</source>
        <translation>Como máximo %1 de memoria, %2 veces la estimación</translation>
    </message>
    <message>
        <source>1 step</source>
        <translation>1 paso</translation>
    </message>
</context>
<context>
    <name>furrow::WorkersPage</name>
    <message>
        <source>Worker processes</source>
        <translation>Procesos de trabajadores</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>Puntos de control</translation>
    </message>
    <message>
        <source>Worker processes of all attempts</source>
        <translation>Procesos de trabajadores de todos los intentos</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>Fijar</translation>
    </message>
    <message>
        <source>A pinned checkpoint is never removed by the keep policy</source>
        <translation>La política de conservación nunca elimina un punto de control fijado</translation>
    </message>
    <message>
        <source>Evaluate</source>
        <translation>Evaluar</translation>
    </message>
    <message>
        <source>Write text…</source>
        <translation>Escribir texto…</translation>
    </message>
    <message>
        <source>New run from it…</source>
        <translation>Ejecución nueva desde él…</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>Soltar</translation>
    </message>
    <message>
        <source>Best: checkpoint %1, eval loss %2</source>
        <translation>Mejor: punto de control %1, pérdida de evaluación %2</translation>
    </message>
    <message>
        <source>Verify all</source>
        <translation>Verificar todos</translation>
    </message>
    <message>
        <source>Reads every file of the checkpoints again and compares it with what was recorded when it was written</source>
        <translation>Lee de nuevo cada archivo de los puntos de control y lo compara con lo que se registró al escribirlo</translation>
    </message>
    <message>
        <source>Stop checking</source>
        <translation>Dejar de comprobar</translation>
    </message>
    <message>
        <source>Checking the files, %1 of %2…</source>
        <translation>Comprobando los archivos, %1 de %2…</translation>
    </message>
    <message numerus="yes">
        <source>%n checkpoint(s) verified: every file is as it was written.</source>
        <translation>
            <numerusform>%n punto de control verificado: cada archivo está como se escribió.</numerusform>
            <numerusform>%n puntos de control verificados: cada archivo está como se escribió.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n checkpoint(s) not whole. %1</source>
        <translation>
            <numerusform>%n punto de control no íntegro. %1</numerusform>
            <numerusform>%n puntos de control no íntegros. %1</numerusform>
        </translation>
    </message>
    <message>
        <source>checkpoint %1, all replicas merged</source>
        <translation>punto de control %1, todas las réplicas fusionadas</translation>
    </message>
    <message>
        <source>checkpoint %1, replica %2</source>
        <translation>punto de control %1, réplica %2</translation>
    </message>
    <message>
        <source>Evaluating %1…</source>
        <translation>Evaluando %1…</translation>
    </message>
    <message>
        <source>%1 was not evaluated. %2</source>
        <translation>%1 no se evaluó. %2</translation>
    </message>
    <message>
        <source>The program reported no loss.</source>
        <translation>El programa no dio ninguna pérdida.</translation>
    </message>
    <message>
        <source>Evaluated at %1: %2, step %3: loss %4, perplexity %5, on %6.</source>
        <translation>Evaluado (%1): %2, paso %3: pérdida %4, perplejidad %5, sobre %6.</translation>
    </message>
    <message>
        <source>all held-out text (%1 tokens)</source>
        <translation>todo el texto reservado (%1 tokens)</translation>
    </message>
    <message>
        <source>%1 tokens of %2</source>
        <translation>%1 tokens de %2</translation>
    </message>
    <message>
        <source>%1 of this text was also trained on.</source>
        <translation>De este texto también se entrenó el %1.</translation>
    </message>
    <message>
        <source>As last read, at %1.</source>
        <translation>Como se leyó por última vez (%1).</translation>
    </message>
    <message>
        <source>These are not the newest weights of the run.</source>
        <translation>Estos no son los pesos más recientes de la ejecución.</translation>
    </message>
    <message>
        <source>They are from before the end of epoch %1.</source>
        <translation>Son de antes del final de la época %1.</translation>
    </message>
    <message>
        <source>As it is now, not as it was at %1. Ages are those of then.</source>
        <translation>Muestra el estado actual, no el de entonces (%1). Las antigüedades son las de entonces.</translation>
    </message>
    <message>
        <source>Evaluated at %1: %2, step %3: loss %4, chosen answer preferred in %5, on %6.</source>
        <translation>Evaluado a las %1: %2, paso %3: pérdida %4, respuesta elegida preferida en el %5, sobre %6.</translation>
    </message>
    <message>
        <source>all held-out pairs (%1)</source>
        <translation>todas las parejas reservadas (%1)</translation>
    </message>
    <message>
        <source>%1 pairs of %2</source>
        <translation>%1 parejas de %2</translation>
    </message>
</context>
</TS>
